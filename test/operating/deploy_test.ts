import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { maxUploadsSize } from "@accountlink/http";
import { variables } from "@accountlink/server/config";
import { whyNoCertificate } from "@accountlink/test-servers";
import { DCLinter } from "dclint";
import { DockerfileParser } from "dockerfile-ast";
import { validate } from "dockerfile-utils";
import { Option } from "effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { hasProgram } from "../docs/shell.ts";

const run = promisify(execFile);

const root = fileURLToPath(new URL("../..", import.meta.url));
const deploy = join(root, "deploy");
const [compose, unit, example, kubernetes, dockerfile, oneHost] = await Promise.all(
  [
    "compose.yaml",
    "accountlink.service",
    "accountlink.env.example",
    "kubernetes.yaml",
    "Dockerfile",
    "one_host.env",
  ].map((name) => readFile(join(deploy, name), "utf8")),
);

/** Returns the arguments of each Dockerfile instruction with this name, such as `RUN`, in the order of the file. */
const argumentsOf = (name: string): ReadonlyArray<string> =>
  DockerfileParser.parse(dockerfile ?? "")
    .getInstructions()
    .filter((instruction) => instruction.getKeyword() === name)
    .map((instruction) => instruction.getArgumentsContent() ?? "");

interface Service {
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: object;
  readonly stop_grace_period?: string;
  readonly entrypoint?: ReadonlyArray<string>;
  readonly command?: ReadonlyArray<string>;
  readonly secrets?: ReadonlyArray<string>;
  readonly read_only?: boolean;
  readonly tmpfs?: ReadonlyArray<string>;
}

const { services, secrets } = parse(compose ?? "") as {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
};

/**
 * The longest time that a shutdown takes after the drain delay, in seconds: 10 for open requests and 3 for the rest.
 */
const drain = 10 + 3;

/** Parses a value of `ACCOUNTLINK_DRAIN_DELAY`, and returns the delay in seconds. */
const delayOf = (value: unknown): number =>
  Option.getOrThrow(variables.ACCOUNTLINK_DRAIN_DELAY.parse(String(value))) / 1_000;

describe("deploy/", () => {
  it.each(Object.entries({ dockerfile, compose, unit, example, kubernetes }))(
    "deploy/ names only variables that the server knows: %s",
    (_, text) => {
      const named = [...(text ?? "").matchAll(/ACCOUNTLINK_[A-Z_]+/g)].map(([name]) => name);
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((name) => !(name in variables))).toEqual([]);
    },
  );

  it("deploy/compose.yaml sets each variable to a valid value", () => {
    const values = Object.entries(services["accountlink"]?.environment ?? {});
    expect(values.length).toBeGreaterThan(3);
    for (const [name, value] of values) {
      const { parse: read } = variables[name as keyof typeof variables];
      expect([name, read(value)._tag]).toEqual([name, "Some"]);
    }
  });

  it("compose.yaml matches the schema of the Compose specification", () => {
    const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] });
    const [result] = linter.lintFiles([join(deploy, "compose.yaml")], false);
    expect(result?.messages.filter(({ type }: { readonly type: string }) => type === "error")).toEqual([]);
    const { stop_grace_period: grace, environment } = services["accountlink"] ?? {};
    const delay = delayOf(environment?.["ACCOUNTLINK_DRAIN_DELAY"]);
    expect(parseInt(grace ?? "", 10)).toBeGreaterThan(delay + drain);
    expect(services["redis"]?.command?.join(" ")).toContain("--maxmemory-policy noeviction");
    for (const name of ["postgres", "redis"]) expect(services[name]?.healthcheck).toBeDefined();
  });

  it("the Dockerfile is valid, and runs node directly, as a user other than root", () => {
    expect(validate(dockerfile ?? "")).toEqual([]);
    expect(JSON.parse(argumentsOf("ENTRYPOINT").at(-1) ?? "[]")[0]).toBe("node");
    expect(argumentsOf("USER")).toEqual(["node"]);
  });

  it("the Dockerfile names only files of the checkout", async () => {
    const sources = argumentsOf("COPY").flatMap((text) => text.split(/\s+/).slice(0, -1));
    const commands = argumentsOf("RUN").flatMap(
      (text) => text.match(/\b(?:packages|tools|apps)[\w./]*/g) ?? [],
    );
    const named = [...sources, ...commands].filter((path) => !path.startsWith("/"));
    expect(named).toContain("packages/testing");
    for (const path of named) await expect(stat(join(root, path))).resolves.toBeTruthy();
  });

  it("images have digests, and the Dockerfile has the Node version of the lockfile", () => {
    const [first = "", ...others] = argumentsOf("FROM").map((from) => from.split(" ")[0]);
    expect(first.split("@")[0]).toBe(`node:${process.versions.node}-slim`);
    expect(new Set(others)).toEqual(new Set([first]));
    const images = Object.values(services).flatMap(({ image: name }) => name ?? []);
    expect(images).toHaveLength(3);
    for (const name of [first, ...images]) expect(name).toMatch(/^[a-z]+:[\d.]+(-slim)?@sha256:[\da-f]{64}$/);
  });

  it("systemd waits longer than a shutdown takes", () => {
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit ?? "") ?? [];
    expect(Number(seconds)).toBeGreaterThan(5 + drain);
    expect(unit).toMatch(/^KillMode=mixed$/m);
  });

  it("Kubernetes stops sending requests within the drain delay, and waits longer than a shutdown takes", () => {
    const [deployment, ...others] = parseAllDocuments(kubernetes ?? "").map((document) => document.toJS());
    const { terminationGracePeriodSeconds, containers } = deployment.spec.template.spec;
    const [{ env, readinessProbe }] = containers;
    for (const { name, value } of env) {
      const { parse: read } = variables[name as keyof typeof variables];
      expect([name, read(value)._tag]).toEqual([name, "Some"]);
    }
    const delay = delayOf(env.find(({ name }: { name: string }) => name === "ACCOUNTLINK_DRAIN_DELAY").value);
    expect(terminationGracePeriodSeconds).toBeGreaterThan(delay + drain);
    expect(readinessProbe.httpGet.path).toBe("/readyz");
    expect(readinessProbe.periodSeconds * readinessProbe.failureThreshold).toBeLessThan(delay);
    const labels = deployment.spec.template.metadata.labels;
    for (const { kind, spec } of others.filter((other) => other.kind !== "Ingress")) {
      expect([kind, spec.selector.matchLabels ?? spec.selector]).toEqual([kind, labels]);
    }
  });

  it("/metrics is on the operator port alone, which nothing in deploy/ shows to the public", () => {
    const documents = parseAllDocuments(kubernetes ?? "").map((document) => document.toJS());
    const ofKind = (kind: string) => documents.filter((document) => document.kind === kind);
    const [{ env, ports, startupProbe, livenessProbe }] =
      ofKind("Deployment")[0].spec.template.spec.containers;
    const { value } = env.find(({ name }: { name: string }) => name === "ACCOUNTLINK_OPERATOR_PORT");
    const operator = ports.find(({ name }: { name: string }) => name === "operator");
    expect(value).toBe(String(operator.containerPort));
    for (const probe of [startupProbe, livenessProbe]) expect(probe.httpGet.port).toBe("operator");
    const shown = ofKind("Service").flatMap(({ spec }) => spec.ports);
    expect(shown.map(({ targetPort }: { targetPort: string }) => targetPort)).toEqual(["http", "http"]);

    expect(services["accountlink"]?.environment?.["ACCOUNTLINK_OPERATOR_PORT"]).toBe("9090");
    expect(services["accountlink"]).not.toHaveProperty("ports");
    expect(oneHost).toMatch(/^ACCOUNTLINK_OPERATOR_PORT=9090$/m);
  });

  it("the Ingress leads to the servers that are ready, and waits longer than streams last", () => {
    const documents = parseAllDocuments(kubernetes ?? "").map((document) => document.toJS());
    const ingress = documents.find(({ kind }) => kind === "Ingress");
    const [{ host, http }] = ingress.spec.rules;
    expect(ingress.spec.tls[0].hosts).toEqual([host]);
    const [{ backend }] = http.paths;
    const named = (name: string) =>
      documents.find(({ kind, metadata }) => kind === "Service" && metadata.name === name);
    expect(named(backend.service.name).spec.ports[0].name).toBe(backend.service.port.name);
    const annotation = (name: string) => ingress.metadata.annotations[`nginx.ingress.kubernetes.io/${name}`];
    expect(named(annotation("default-backend")).spec.publishNotReadyAddresses).toBe(true);
    const streamMax = Option.getOrThrow(variables.ACCOUNTLINK_STREAM_MAX.parse("30 seconds"));
    expect(Number(annotation("proxy-read-timeout")) * 1_000).toBeGreaterThan(streamMax);
  });

  it("Compose and Kubernetes give servers a temporary folder in memory for all uploads, and systemd a private one", () => {
    const { read_only: isReadOnly, tmpfs = [] } = services["accountlink"] ?? {};
    expect(isReadOnly).toBe(true);
    const [, composeSize] = /^\/tmp:size=(\d+)m$/.exec(tmpfs[0] ?? "") ?? [];
    const [deployment] = parseAllDocuments(kubernetes ?? "").map((document) => document.toJS());
    const { containers, volumes } = deployment.spec.template.spec;
    const [{ volumeMounts, securityContext }] = containers;
    expect(securityContext.readOnlyRootFilesystem).toBe(true);
    expect(volumeMounts).toEqual([{ name: "tmp", mountPath: "/tmp" }]);
    const [{ name, emptyDir }] = volumes;
    expect([name, emptyDir.medium]).toEqual(["tmp", "Memory"]);
    for (const size of [composeSize, /^(\d+)Mi$/.exec(emptyDir.sizeLimit)?.[1]]) {
      expect(Number(size) * 2 ** 20).toBeGreaterThan(maxUploadsSize);
    }
    expect(unit).toMatch(/^PrivateTmp=yes$/m);
  });

  it("systemd restarts the server without a limit", () => {
    expect(unit).toMatch(/^Restart=on-failure$/m);
    expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
  });
});

const withoutOpenssl = await whyNoCertificate();

describe("the secrets of deploy/compose.yaml", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "accountlink-secrets-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.skipIf(withoutOpenssl !== null)(
    `any user of a container can read the secrets, and no other user of the machine ${withoutOpenssl ?? ""}`,
    async () => {
      const commands = [...(compose ?? "").matchAll(/^# {3}(.+)$/gm)].map(([, command = ""]) => command);
      const [start, ...makeSecrets] = commands.toReversed();
      expect(start).toMatch(/^docker compose up /);
      await cp(join(deploy, "accountlink.env.example"), join(folder, "accountlink.env.example"));
      for (const name of ["fullchain.pem", "privkey.pem"]) await writeFile(join(folder, name), name);
      await run("sh", ["-ec", ["umask 077", ...makeSecrets.toReversed()].join("\n")], { cwd: folder });

      const modeOf = async (path: string) => ((await stat(join(folder, path))).mode & 0o777).toString(8);
      expect(await modeOf("secrets")).toBe("700");
      const files = Object.values(secrets).map(({ file }) => file);
      const made = (await readdir(join(folder, "secrets"))).map((name) => `./secrets/${name}`);
      expect(files.toSorted()).toEqual(made.toSorted());
      for (const file of files) expect([file, await modeOf(file)]).toEqual([file, "644"]);
    },
  );

  it("the start command of compose.yaml fails without the secrets", async () => {
    const { entrypoint = [], command = [], secrets: [name] = [] } = services["accountlink"] ?? {};
    const start = async (file: string) => {
      const [program, ...args] = [...entrypoint, ...command];
      expect(program).toBe("node");
      const here = args.map((arg) => arg.replace(`/run/secrets/${name}`, file));
      expect(here).not.toEqual(args);
      return run(process.execPath, here, { cwd: root, env: {} });
    };
    const missing = join(folder, "nowhere.env");
    await expect(start(missing)).rejects.toMatchObject({ stderr: expect.stringContaining(missing) });
    const wrong = join(folder, "wrong.env");
    await writeFile(wrong, "ACCOUNTLINK_PORT=read\n");
    const refusal = 'Cannot start: ACCOUNTLINK_PORT is "read"';
    await expect(start(wrong)).rejects.toMatchObject({ stderr: expect.stringContaining(refusal) });
  });
});

describe.skipIf(!(await hasProgram("systemd-analyze")))("deploy/accountlink.service, read by systemd", () => {
  it("systemd accepts the unit, and rates its exposure as low", async () => {
    const folder = await mkdtemp(join(tmpdir(), "accountlink-unit-"));
    // This machine lacks the folders that the unit names, so replace them.
    const here = (unit ?? "").replaceAll(/\/opt\/accountlink\/?/g, root);
    const file = join(folder, "accountlink.service");
    await writeFile(file, here);
    try {
      expect(await run("systemd-analyze", ["verify", file])).toEqual({ stdout: "", stderr: "" });
      // systemd rates the exposure from 0 to 10, where 10 means the service may do all that its user may. The
      // threshold 20 means 2.0.
      await run("systemd-analyze", ["security", "--offline=yes", "--threshold=20", file]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
