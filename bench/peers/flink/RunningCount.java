import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/** RunningCount key=value...: numbers come at a rate, and are counted by key. How far the count has come stands in a file. */
public class RunningCount {
  /** Counts, and tells in its file its process id, how many numbers this process has counted, and the largest of them. */
  public static class Count extends KeyedProcessFunction<Long, Long, Long> {
    private final String path;
    private transient ValueState<Long> state;
    private transient MappedByteBuffer told;
    private transient long counted;

    Count(String path) { this.path = path; }

    @Override public void open(OpenContext context) throws Exception {
      state = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
      try (RandomAccessFile file = new RandomAccessFile(path, "rw")) {
        told = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 24);
      }
    }

    @Override public void processElement(Long number, Context context, Collector<Long> out) throws Exception {
      Long before = state.value();
      long now = before == null ? 1 : before + 1;
      state.update(now);
      out.collect(now);
      told.putLong(16, number);
      told.putLong(8, ++counted);
      if (counted == 1) told.putLong(0, ProcessHandle.current().pid());
    }
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, String> given = new HashMap<>();
    for (String one : arguments) given.put(one.substring(0, one.indexOf('=')), one.substring(one.indexOf('=') + 1));
    Configuration configuration = new Configuration();
    configuration.setString("execution.checkpointing.interval", given.get("interval"));
    configuration.setString("execution.checkpointing.dir", given.get("checkpoints"));
    configuration.setString("execution.checkpointing.storage", "filesystem");
    configuration.setString("execution.checkpointing.incremental", given.get("incremental"));
    configuration.setString("state.backend.type", given.get("backend"));
    configuration.setString("restart-strategy.type", "fixed-delay");
    configuration.setString("restart-strategy.fixed-delay.attempts", "1000");
    configuration.setString("restart-strategy.fixed-delay.delay", "0 s");
    configuration.setString("pipeline.object-reuse", "true");
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.createRemoteEnvironment(
        "127.0.0.1", Integer.parseInt(given.get("port")), configuration, given.get("jar"));
    environment.setParallelism(1);
    long keys = Long.parseLong(given.get("keys"));
    DataGeneratorSource<Long> numbers = new DataGeneratorSource<>(
        number -> number, Long.MAX_VALUE, RateLimiterStrategy.perSecond(Double.parseDouble(given.get("rate"))), Types.LONG);
    environment.fromSource(numbers, WatermarkStrategy.noWatermarks(), "numbers")
        .keyBy(number -> number * 1_000_003L % keys, Types.LONG)
        .process(new Count(given.get("told")), Types.LONG)
        .sinkTo(new DiscardingSink<>());
    environment.execute("running-count");
  }
}
