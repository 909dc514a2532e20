/** Metrics of the process, with the names that Prometheus client libraries use. */
import { readdirSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { readMetric } from "@accountlink/core/telemetry";
import { Effect, Metric, type Scope } from "effect";

const cpu = Metric.counter("process_cpu_seconds_total", {
  description: "Processor time in user and system mode, in seconds",
  incremental: true,
});
const startTime = Metric.gauge("process_start_time_seconds", {
  description: "When the process began, in seconds since 1970",
});
const residentMemory = Metric.gauge("process_resident_memory_bytes", { description: "Resident memory" });
const openDescriptors = Metric.gauge("process_open_fds", { description: "Open file descriptors" });
const mostDescriptors = Metric.gauge("process_max_fds", { description: "File descriptors that may be open" });
const heapUsed = Metric.gauge("nodejs_heap_size_used_bytes", { description: "Heap in use" });
const heapTotal = Metric.gauge("nodejs_heap_size_total_bytes", { description: "Heap" });
const loopDelay = Metric.gauge("nodejs_eventloop_lag_p99_seconds", {
  description: "How late the event loop was since the last scrape, at the 99th percentile, in seconds",
});
const connections = Metric.gauge("accountlink_http_connections", {
  description: "Open connections of clients",
});

/** The interval between samples of the event loop, in milliseconds. */
const resolution = 100;

export const exportProcessMetrics: Effect.Effect<void, never, Scope.Scope> = Effect.gen(function* () {
  const startedAt = performance.timeOrigin / 1_000;
  yield* readMetric(startTime, () => ({ value: startedAt }));
  yield* readMetric(cpu, () => {
    const { user, system } = process.cpuUsage();
    return { count: (user + system) / 1e6, incremental: true };
  });
  yield* readMetric(residentMemory, () => ({ value: process.memoryUsage.rss() }));
  yield* readMetric(heapUsed, () => ({ value: process.memoryUsage().heapUsed }));
  yield* readMetric(heapTotal, () => ({ value: process.memoryUsage().heapTotal }));
  yield* exportLoopDelay;
  if (process.platform === "linux") yield* exportDescriptors;
});

const exportLoopDelay = Effect.gen(function* () {
  const delays = yield* Effect.acquireRelease(
    Effect.sync(() => monitorEventLoopDelay({ resolution })),
    (histogram) => Effect.sync(() => histogram.disable()),
  );
  delays.enable();
  yield* readMetric(loopDelay, () => {
    const late = delays.count === 0 ? 0 : delays.percentile(99) / 1e9 - resolution / 1e3;
    delays.reset();
    return { value: Math.max(0, late) };
  });
});

const exportDescriptors = Effect.gen(function* () {
  // Subtracts the descriptor that reading the folder opens.
  yield* readMetric(openDescriptors, () => ({ value: readdirSync("/proc/self/fd").length - 1 }));
  const most = mostOpenFiles();
  yield* readMetric(mostDescriptors, () => ({ value: most }));
});

/** The limit of open files, which Node has raised to the hard limit; `Infinity` if unknown. */
export const mostOpenFiles = (): number => {
  if (process.platform !== "linux") return Infinity;
  const [, most] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
  return most === undefined ? Infinity : Number(most);
};

export const exportConnections = (server: Server): Effect.Effect<void, never, Scope.Scope> => {
  let open = 0;
  server.on("connection", (socket) => {
    open++;
    socket.once("close", () => open--);
  });
  return readMetric(connections, () => ({ value: open }));
};
