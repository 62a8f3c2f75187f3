import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/**
 * The count of words by word that bench/recovery.py runs, on Flink: Recovery PORT FOLDER KEYS RATE INTERVAL_MS BACKEND JAR.
 *
 * <p>Each process that counts appends lines "how many of all rows of the source have been counted" to FOLDER/counted-PID, which flink_recovery.py reads.
 */
public class Recovery {
  /**
   * Row i of the source is the word of eight letters that is drawn for i, and i.
   *
   * <p>It is due i / RATE seconds after the start, so that a source which went back catches up as fast as it can. Flink's own limiter waits for each
   * row by itself, and lets far fewer through.
   */
  static class Words implements GeneratorFunction<Long, Tuple2<String, Long>> {
    private static final int LOOKED_AT = 500;
    private final long keys;
    private final double rowsAMs;
    private final long began = System.currentTimeMillis();

    Words(long keys, double rate) {
      this.keys = keys;
      rowsAMs = rate / 1000;
    }

    @Override
    public Tuple2<String, Long> map(Long i) throws InterruptedException {
      if (i % LOOKED_AT == 0) {
        long early = began + (long) (i / rowsAMs) - System.currentTimeMillis();
        if (early > 0) {
          Thread.sleep(early);
        }
      }
      long z = (i + 1) * 0x9E3779B97F4A7C15L;
      z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
      z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
      long key = Long.remainderUnsigned(z ^ (z >>> 31), keys);
      char[] letters = new char[8];
      for (int at = 7; at >= 0; at--, key /= 26) {
        letters[at] = (char) ('a' + key % 26);
      }
      return new Tuple2<>(new String(letters), i);
    }
  }

  /** Counts in keyed state; what it lets out are the changes of counts, as EMIT CHANGES does. */
  static class Count extends KeyedProcessFunction<String, Tuple2<String, Long>, Tuple2<String, Long>> {
    private final String folder;
    private transient ValueState<Long> count;
    private transient volatile long reached;

    Count(String folder) {
      this.folder = folder;
    }

    @Override
    public void open(OpenContext context) {
      count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
      Thread told = new Thread(this::tell);
      told.setDaemon(true);
      told.start();
    }

    private void tell() {
      Path file = Path.of(folder, "counted-" + ProcessHandle.current().pid());
      try {
        for (long last = 0; ; Thread.sleep(2)) {
          long now = reached;
          if (now != last) {
            Files.writeString(file, now + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            last = now;
          }
        }
      } catch (Exception ended) {
        throw new IllegalStateException(ended);
      }
    }

    @Override
    public void processElement(Tuple2<String, Long> row, Context context, Collector<Tuple2<String, Long>> out)
        throws Exception {
      Long before = count.value();
      long now = before == null ? 1 : before + 1;
      count.update(now);
      reached = row.f1 + 1;
      out.collect(new Tuple2<>(row.f0, now));
    }
  }

  public static void main(String[] given) throws Exception {
    String folder = given[1];
    Configuration settings = new Configuration();
    settings.setString("execution.checkpointing.interval", given[4] + " ms");
    settings.setString("execution.checkpointing.mode", "EXACTLY_ONCE");
    settings.setString("execution.checkpointing.incremental", "true");
    // State on the heap is read back byte by byte from a file, unless it is compressed: a million keys took 20 s.
    settings.setString("execution.checkpointing.snapshot-compression", "true");
    settings.setString("execution.checkpointing.storage", "filesystem");
    settings.setString("execution.checkpointing.dir", Path.of(folder, "checkpoints").toUri().toString());
    settings.setString("state.backend.type", given[5]);
    settings.setString("pipeline.object-reuse", "true");
    settings.setString("restart-strategy.type", "fixed-delay");
    settings.setString("restart-strategy.fixed-delay.attempts", "1000000");
    settings.setString("restart-strategy.fixed-delay.delay", "0 s");
    StreamExecutionEnvironment job =
        StreamExecutionEnvironment.createRemoteEnvironment("127.0.0.1", Integer.parseInt(given[0]), settings, given[6]);
    job.setParallelism(1);
    job.fromSource(
            new DataGeneratorSource<>(
                new Words(Long.parseLong(given[2]), Double.parseDouble(given[3])),
                Long.MAX_VALUE,
                Types.TUPLE(Types.STRING, Types.LONG)),
            WatermarkStrategy.noWatermarks(),
            "words")
        .slotSharingGroup("words")
        .keyBy(row -> row.f0, Types.STRING)
        .process(new Count(folder), Types.TUPLE(Types.STRING, Types.LONG))
        .slotSharingGroup("count")
        .sinkTo(new DiscardingSink<>())
        .slotSharingGroup("count");
    job.execute("recovery");
  }
}
