import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** An echo server with a thread a connection, which allocates so many bytes for each request, and keeps the last 256 KiB of them alive. */
final class Echo {
    private static final int PIECE = 64;
    private static final byte[][] KEPT = new byte[4_096][];

    private Echo() {}

    public static void main(String[] words) throws IOException {
        int colon = words[0].lastIndexOf(':');
        int bytes = Integer.parseInt(words[1]);
        InetAddress host = InetAddress.getByName(words[0].substring(0, colon));
        try (ServerSocket listener = new ServerSocket(Integer.parseInt(words[0].substring(colon + 1)), 512, host)) {
            while (true) {
                Socket user = listener.accept();
                user.setTcpNoDelay(true);
                new Thread(() -> answer(user, bytes)).start();
            }
        }
    }

    private static void answer(Socket user, int bytes) {
        byte[] request = new byte[65_536];
        try (user) {
            for (int at = 0, count; (count = user.getInputStream().read(request)) > 0; ) {
                for (int left = bytes; left > 0; left -= PIECE) {
                    KEPT[at++ % KEPT.length] = new byte[PIECE];
                }
                user.getOutputStream().write(request, 0, count);
            }
        } catch (IOException gone) {
            System.err.println("a connection ended: " + gone);
        }
    }
}
