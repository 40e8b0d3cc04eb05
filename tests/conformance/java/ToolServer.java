// Runs Kafka's command-line tools in turn within one JVM: what takes a second each is then loaded once.
//
// A call on standard input: how many words, and each word, the tool's main class first. Its answer on standard output:
// the exit code, what it printed, what it complained of. Numbers are ints; texts are their length and their bytes.
// A tool that ends the JVM itself ends this program: its answer has BY_ITSELF in place of the exit code, which is that of
// the program then.
//
// Run by a JDK, with Kafka's jars on its class path.

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

public class ToolServer {
    private static final Stage OUT = new Stage();
    private static final Stage ERR = new Stage();
    private static final int BY_ITSELF = Integer.MIN_VALUE;
    private static Integer ended;

    public static void main(String[] args) throws Exception {
        DataInputStream calls = new DataInputStream(System.in);
        DataOutputStream answers = new DataOutputStream(System.out);
        // Tools keep the streams that they find when they are loaded: these stay, and what is behind them changes.
        System.setIn(InputStream.nullInputStream());
        System.setOut(new PrintStream(OUT, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(ERR, true, StandardCharsets.UTF_8));
        catchExits();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> answer(answers, BY_ITSELF)));
        while (true) {
            String[] words;
            try {
                words = read(calls);
            } catch (EOFException over) {
                Runtime.getRuntime().halt(0);
                return;
            }
            answer(answers, run(words[0], Arrays.copyOfRange(words, 1, words.length)));
        }
    }

    private static synchronized void answer(DataOutputStream answers, int code) {
        try {
            answers.writeInt(code);
            write(answers, OUT.taken());
            write(answers, ERR.taken());
            answers.flush();
        } catch (IOException nobody) {
            Runtime.getRuntime().halt(1);
        }
    }

    private static int run(String tool, String[] words) {
        ended = null;
        try {
            Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) words);
        } catch (InvocationTargetException thrown) {
            if (ended == null) {
                thrown.getCause().printStackTrace();
                return 1;
            }
        } catch (ReflectiveOperationException unknown) {
            unknown.printStackTrace();
            return 1;
        }
        return ended == null ? 0 : ended;
    }

    /** Tools end by Kafka's own Exit, where a release has one; what they would say or do after that is not said. */
    private static void catchExits() throws ReflectiveOperationException {
        for (String name : new String[] {"org.apache.kafka.common.utils.Exit",
                                         "org.apache.kafka.common.utils.internals.Exit"}) {
            Class<?> exit;
            try {
                exit = Class.forName(name);
            } catch (ClassNotFoundException otherRelease) {
                continue;
            }
            for (Method method : exit.getMethods()) {
                if (method.getName().equals("setExitProcedure") || method.getName().equals("setHaltProcedure")) {
                    Class<?> procedure = method.getParameterTypes()[0];
                    method.invoke(null, Proxy.newProxyInstance(
                        procedure.getClassLoader(), new Class<?>[] {procedure}, (self, called, given) -> end(given)));
                }
            }
        }
    }

    private static Object end(Object[] given) {
        if (ended == null) {
            ended = (Integer) given[0];
            OUT.close();
            ERR.close();
        }
        throw new Ended();
    }

    private static String[] read(DataInputStream calls) throws IOException {
        String[] words = new String[calls.readInt()];
        for (int number = 0; number < words.length; number++) {
            words[number] = new String(calls.readNBytes(calls.readInt()), StandardCharsets.UTF_8);
        }
        return words;
    }

    private static void write(DataOutputStream answers, byte[] text) throws IOException {
        answers.writeInt(text.length);
        answers.write(text);
    }

    private static final class Ended extends Error {
        Ended() {
            super("the tool has ended", null, false, false);
        }
    }

    /** What is printed until it is closed; then nothing, until it is taken. */
    private static final class Stage extends OutputStream {
        private ByteArrayOutputStream text = new ByteArrayOutputStream();
        private boolean isClosed;

        @Override
        public synchronized void write(int one) {
            if (!isClosed) {
                text.write(one);
            }
        }

        @Override
        public synchronized void write(byte[] data, int first, int count) {
            if (!isClosed) {
                text.write(data, first, count);
            }
        }

        @Override
        public synchronized void close() {
            isClosed = true;
        }

        synchronized byte[] taken() {
            byte[] taken = text.toByteArray();
            text.reset();
            isClosed = false;
            return taken;
        }
    }
}
