// One learner of MOA over one stream held in memory; a run for every line of standard input.
//   java -cp moa.jar:CLASSES Peer STREAM.bin "trees.HoeffdingTree -l MC"
// STREAM.bin, as streams.py writes it: see there. Each run prints a line of JSON: predict, then
// learn, every instance.

import com.yahoo.labs.samoa.instances.Attribute;
import com.yahoo.labs.samoa.instances.DenseInstance;
import com.yahoo.labs.samoa.instances.Instance;
import com.yahoo.labs.samoa.instances.Instances;
import com.yahoo.labs.samoa.instances.InstancesHeader;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import moa.classifiers.Classifier;
import moa.core.Measurement;
import moa.core.Utils;
import moa.options.ClassOption;
import moa.options.OptionHandler;
import moa.tasks.NullMonitor;

public class Peer {
    static InstancesHeader header;
    static Instance[] stream;
    static int[] labels;

    public static void main(String[] args) throws Exception {
        read(args[0]);
        run(args[1], true, Math.min(1, stream.length)); // a wrong learner fails here
        System.out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        while (lines.readLine() != null) {
            run(args[1], false, stream.length);
        }
    }

    static void run(String name, boolean silent, int count) throws Exception {
        Classifier learner = (Classifier) ClassOption.cliStringToObject(
                name, Classifier.class, null);
        ((OptionHandler) learner).prepareForUse(new NullMonitor(), null);
        learner.setModelContext(header);
        learner.resetLearning();
        System.gc();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long cpu = threads.getCurrentThreadCpuTime();
        int right = 0;
        for (int i = 0; i < count; i++) {
            if (Utils.maxIndex(learner.getVotesForInstance(stream[i])) == labels[i]) {
                right++;
            }
            learner.trainOnInstance(stream[i]);
        }
        double cpuSeconds = (threads.getCurrentThreadCpuTime() - cpu) * 1e-9;
        if (silent) {
            return;
        }
        String leaves = "";
        for (Measurement m : learner.getModelMeasurements()) {
            if (m.getName().equals("tree size (leaves)")) {
                leaves = ", \"leaves\": " + (long) m.getValue();
            }
        }
        System.out.printf(Locale.ROOT, "{\"right\": %d, \"cpu_seconds\": %.6f%s}%n", right, cpuSeconds, leaves);
        System.out.flush();
    }

    static void read(String path) throws Exception {
        try (FileChannel file = FileChannel.open(Paths.get(path))) {
            ByteBuffer data = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
            data.order(ByteOrder.LITTLE_ENDIAN);
            int count = data.getInt();
            int width = data.getInt();
            int classes = data.getInt();
            List<Attribute> attributes = new ArrayList<>();
            boolean nominal = true;
            for (int a = 0; a < width; a++) {
                int values = data.getInt();
                nominal &= values > 0;
                attributes.add(values > 0 ? new Attribute("a" + a, numbers(values))
                        : new Attribute("a" + a));
            }
            attributes.add(new Attribute("class", numbers(classes)));
            header = new InstancesHeader(new Instances("stream", attributes, 0));
            header.setClassIndex(width);
            stream = new Instance[count];
            labels = new int[count];
            for (int i = 0; i < count; i++) {
                double[] values = new double[width + 1];
                for (int a = 0; a < width; a++) {
                    if (nominal) {
                        int code = data.get() & 255;
                        values[a] = code == 255 ? Double.NaN : code;
                    } else {
                        values[a] = data.getDouble();
                    }
                }
                stream[i] = new DenseInstance(1.0, values);
                stream[i].setDataset(header);
            }
            for (int i = 0; i < count; i++) {
                labels[i] = data.get() & 255;
                stream[i].setClassValue(labels[i]);
            }
        }
    }

    static List<String> numbers(int count) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add(Integer.toString(i));
        }
        return names;
    }
}
