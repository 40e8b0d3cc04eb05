// What Kafka's own request classes answer when a handler fails: a request in hexadecimal on each line of standard input,
// its error response on each line of standard output: `none` where there is none, and the connection is closed instead;
// `failed` where they themselves fail at the request.
//
// Run by a JDK from this one file, with Kafka's jars on its class path.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.RequestUtils;

public class ErrorAnswers {
    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(answered(ByteBuffer.wrap(HexFormat.of().parseHex(line))));
        }
    }

    private static String answered(ByteBuffer frame) {
        RequestHeader header;
        AbstractResponse response;
        try {
            header = RequestHeader.parse(frame);
            AbstractRequest request = AbstractRequest.parseRequest(header.apiKey(), header.apiVersion(), frame).request;
            response = request.getErrorResponse(0, new IllegalStateException("told to fail"));
        } catch (RuntimeException failed) {
            return "failed";
        }
        if (response == null) {
            return "none";
        }
        short version = header.apiVersion();
        ByteBuffer bytes = RequestUtils.serialize(
            header.toResponseHeader().data(), header.apiKey().responseHeaderVersion(version), response.data(), version);
        byte[] told = new byte[bytes.remaining()];
        bytes.get(told);
        return HexFormat.of().formatHex(told);
    }
}
