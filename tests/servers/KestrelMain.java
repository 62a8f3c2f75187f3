// Twitter's own test server, of finagle-kestrel: what it does right proves that our client writes the bytes that theirs reads.
// java -cp 'JARS/*' KestrelMain.java PORT

import java.net.InetSocketAddress;

public class KestrelMain {
  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[0]);
    new com.twitter.finagle.kestrel.Server(new InetSocketAddress("127.0.0.1", port)).start();
    System.out.println("listening on " + port);
    Thread.currentThread().join();
  }
}
