/** Measures the free space of the disk of the data folder, on which a full disk stops every write. */
import { statfs } from "node:fs/promises";
import { Effect, Metric, Schedule } from "effect";

const free = Metric.gauge("accountlink_disk_free_bytes", {
  description: "Free space of the disk of the data folder",
});

/** Measures every 15 seconds, the usual interval of Prometheus. A disk that cannot be asked keeps its last value. */
export const watchDiskSpace = (folder: string): Effect.Effect<void> =>
  Effect.promise(() => statfs(folder).catch(() => null)).pipe(
    Effect.flatMap((disk) => (disk === null ? Effect.void : Metric.update(free, disk.bavail * disk.bsize))),
    Effect.repeat(Schedule.spaced("15 seconds")),
    Effect.asVoid,
  );
