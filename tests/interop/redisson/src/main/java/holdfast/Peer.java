package holdfast;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.redisson.Redisson;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A service that uses Redisson, for tests: takes a command a line and answers with a line. Everything
 * happens in one thread, which is Redisson's idea of an owner.
 */
public final class Peer {
    private final RedissonClient redisson;
    private final Map<String, String> permits = new HashMap<>();

    private Peer(String address) {
        Config config = new Config();
        config.useSingleServer().setAddress(address);
        redisson = Redisson.create(config);
    }

    public static void main(String[] arguments) throws Exception {
        Peer peer = new Peer(arguments[0]);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String answer;
            try {
                answer = peer.perform(line.split(" "));
            } catch (IllegalMonitorStateException notOurs) {
                answer = "not held";
            }
            System.out.println(answer);
        }
        System.exit(0);
    }

    private RLock lock(String kind, String name) {
        return switch (kind) {
            case "mutex" -> redisson.getLock(name);
            case "read" -> redisson.getReadWriteLock(name).readLock();
            case "write" -> redisson.getReadWriteLock(name).writeLock();
            case "fair" -> redisson.getFairLock(name);
            default -> throw new IllegalArgumentException(kind);
        };
    }

    private String perform(String[] words) throws Exception {
        return switch (words[0]) {
            // KIND NAME WAIT-MS
            case "lock" -> String.valueOf(
                lock(words[1], words[2]).tryLock(Long.parseLong(words[3]), TimeUnit.MILLISECONDS));
            // KIND NAME
            case "unlock" -> {
                lock(words[1], words[2]).unlock();
                yield "unlocked";
            }
            case "locked" -> String.valueOf(lock(words[1], words[2]).isLocked());
            // KIND NAME COUNTER TIMES
            case "count" -> count(lock(words[1], words[2]), words[3], Integer.parseInt(words[4]));
            // NAME PERMITS
            case "permits" -> String.valueOf(
                redisson.getPermitExpirableSemaphore(words[1])
                    .trySetPermits(Integer.parseInt(words[2])));
            // NAME WAIT-MS LEASE-MS
            case "take" -> take(words[1], Long.parseLong(words[2]), Long.parseLong(words[3]));
            // NAME
            case "give" -> {
                redisson.getPermitExpirableSemaphore(words[1]).release(permits.remove(words[1]));
                yield "given";
            }
            case "available" -> String.valueOf(
                redisson.getPermitExpirableSemaphore(words[1]).availablePermits());
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private String take(String name, long wait, long lease) throws Exception {
        RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore(name);
        String id = semaphore.tryAcquire(wait, lease, TimeUnit.MILLISECONDS);
        if (id == null) {
            return "false";
        }
        permits.put(name, id);
        return "true";
    }

    /** Reads and writes in two steps: without the lock, counts are lost. */
    private String count(Lock lock, String key, int times) {
        RBucket<String> counter = redisson.getBucket(key, StringCodec.INSTANCE);
        for (int i = 0; i < times; i++) {
            lock.lock();
            try {
                String now = counter.get();
                counter.set(String.valueOf(now == null ? 1 : Integer.parseInt(now) + 1));
            } finally {
                lock.unlock();
            }
        }
        return "counted";
    }
}
