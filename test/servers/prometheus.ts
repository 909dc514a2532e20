import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Effect, Schedule, type Scope } from "effect";
import { findServer, type ServerProgram } from "./debian_program.ts";
import { freePort } from "./free_port.ts";
import { skipReason } from "./skip_reason.ts";
import { failStart, SupervisedProcess } from "./supervised_process.ts";

const packages = ["prometheus"];
const program = findServer({ names: ["prometheus"], path: "usr/bin/prometheus", packages });
// After `prometheus`, which unpacks the package.
const tool = program.then(() => findServer({ names: ["promtool"], path: "usr/bin/promtool", packages }));

const run = promisify(execFile);

/** Why Prometheus is unavailable, or null; for the title of a skip. Throws with CI=true. */
export const whyNoPrometheus = async (): Promise<string | null> =>
  (await program) === null || (await tool) === null
    ? skipReason("Prometheus", "there is no prometheus on PATH, and no Debian package of it to unpack")
    : null;

/** Runs promtool, and returns its output. Rejects if promtool fails. */
export const runPromtool = async (...args: ReadonlyArray<string>): Promise<string> => {
  const { file, env } = found(await tool);
  const { stdout } = await run(file, args, { env: { ...process.env, ...env } });
  return stdout;
};

export interface PrometheusOptions {
  /** `host:port` of each node, for the job `accountlink`. */
  readonly targets: ReadonlyArray<string>;
  readonly rules?: string;
}

export interface Alert {
  readonly labels: Readonly<Record<string, string>> & { readonly alertname: string };
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: "pending" | "firing";
}

/** Scrapes every second. */
export interface Prometheus {
  readonly url: string;
  /** The value of each series of an expression, by its instance, or an empty text. */
  readonly query: (expression: string) => Promise<ReadonlyMap<string, number>>;
  readonly alerts: () => Promise<ReadonlyArray<Alert>>;
}

/**
 * Starts a Prometheus on a free port, in a temporary folder. It ends with the scope or this
 * process.
 */
export const startPrometheus = Effect.fnUntraced(function* (
  options: PrometheusOptions,
): Effect.fn.Return<Prometheus, never, Scope.Scope> {
  const { url, ...files } = yield* Effect.promise(() => prepare(options));
  const running = yield* Effect.acquireRelease(
    Effect.promise(() => SupervisedProcess.start(files)),
    (started) => Effect.promise(() => started.remove()),
  );
  yield* Effect.tryPromise(() => isReady(url)).pipe(
    Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 1_500 }),
    Effect.catch(() => Effect.promise(() => failStart("Prometheus: it does not answer", running))),
  );
  return {
    url,
    query: async (expression) => {
      const { result } = await ask<{ readonly result: ReadonlyArray<Sample> }>(
        `${url}/api/v1/query?query=${encodeURIComponent(expression)}`,
      );
      return new Map(result.map(({ metric, value }) => [metric["instance"] ?? "", Number(value[1])]));
    },
    alerts: async () => {
      const { alerts } = await ask<{ readonly alerts: ReadonlyArray<Alert> }>(`${url}/api/v1/alerts`);
      return alerts;
    },
  };
});

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

const prepare = async ({ targets, rules = "groups: []\n" }: PrometheusOptions) => {
  const { file, env } = found(await program);
  const folder = await mkdtemp(join(tmpdir(), "accountlink-prometheus-"));
  const address = `127.0.0.1:${await freePort()}`;
  await writeFile(join(folder, "rules.yml"), rules);
  // JSON is YAML.
  const config = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: ["rules.yml"],
    scrape_configs: [{ job_name: "accountlink", static_configs: [{ targets }] }],
  };
  await writeFile(join(folder, "prometheus.yml"), JSON.stringify(config));
  const command = [
    file,
    `--config.file=${join(folder, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=${address}`,
  ];
  return { url: `http://${address}`, folder, env, command };
};

const isReady = async (url: string): Promise<void> => {
  const response = await fetch(`${url}/-/ready`);
  if (!response.ok) throw new Error("Cannot go on: Prometheus is not ready");
};

const ask = async <Data>(url: string): Promise<Data> => {
  const response = await fetch(url);
  const { data } = (await response.json()) as { readonly data: Data };
  return data;
};

const found = (server: ServerProgram | null): ServerProgram => {
  if (server === null)
    throw new Error("Cannot start Prometheus: no program was found, expected whyNoPrometheus to say so");
  return server;
};
