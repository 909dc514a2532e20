import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readConfig, variables } from "@accountlink/server/config";
import { resolveConfig } from "@accountlink/server/resolved_config";
import { whyNoCertificate } from "@accountlink/test-servers";
import { DCLinter } from "dclint";
import { DockerfileParser } from "dockerfile-ast";
import { validate } from "dockerfile-utils";
import { Effect, Option } from "effect";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { hasProgram } from "../docs/shell.ts";
import { useFolder } from "../support/folder.ts";
import { readExample } from "./balancers.ts";

const run = promisify(execFile);
const folder = useFolder();

const root = fileURLToPath(new URL("../..", import.meta.url));
const deploy = join(root, "deploy");
const [compose, unit, example, kubernetes, dockerfile] = [
  readExample("compose.yaml"),
  readExample("accountlink.service"),
  readExample("accountlink.env.example"),
  readExample("kubernetes.yaml"),
  readExample("Dockerfile"),
];

/** Returns the arguments of each Dockerfile instruction with this name, such as `RUN`, in the order of the file. */
const argumentsOf = (name: string): ReadonlyArray<string> =>
  DockerfileParser.parse(dockerfile)
    .getInstructions()
    .filter((instruction) => instruction.getKeyword() === name)
    .map((instruction) => instruction.getArgumentsContent() ?? "");

const { services, secrets } = parse(compose);
const { accountlink } = services;

const manifests = ["kubernetes.yaml", "kubernetes-ingress.yaml", "kubernetes-gateway.yaml"];
const documents = manifests.flatMap((file) =>
  parseAllDocuments(readExample(file)).map((document) => document.toJS()),
);
const ofKind = (kind: string) => documents.filter((document) => document.kind === kind);
const [{ spec: deployment }] = ofKind("Deployment");
const [container] = deployment.template.spec.containers;
const valueOf = (name: string) => container.env.find((each: { name: string }) => each.name === name).value;

/**
 * The longest time that a shutdown takes after the drain delay, in seconds: 10 for open requests and 3 for the rest.
 */
const drain = 10 + 3;

/** Parses a value of `ACCOUNTLINK_DRAIN_DELAY`, and returns the delay in seconds. */
const delayOf = (value: unknown): number =>
  Option.getOrThrow(variables.ACCOUNTLINK_DRAIN_DELAY.parse(String(value))) / 1_000;

/** Expects each variable to have a value that the server accepts. */
const expectValid = (entries: ReadonlyArray<readonly [name: string, value: string]>) => {
  for (const [name, value] of entries) {
    const { parse: read } = variables[name as keyof typeof variables];
    expect([name, read(value)._tag]).toEqual([name, "Some"]);
  }
};

it.each(Object.entries({ dockerfile, compose, unit, example, kubernetes }))(
  "deploy/ names only variables that the server knows: %s",
  (_, text) => {
    const named = [...text.matchAll(/ACCOUNTLINK_[A-Z_]+/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !(name in variables))).toEqual([]);
  },
);

it("deploy/compose.yaml sets each variable to a valid value", () => {
  const values = Object.entries<string>(accountlink.environment);
  expect(values.length).toBeGreaterThan(3);
  expectValid(values);
});

it("compose.yaml matches the schema of the Compose specification", () => {
  const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] });
  const [result] = linter.lintFiles([join(deploy, "compose.yaml")], false);
  expect(result?.messages.filter(({ type }: { readonly type: string }) => type === "error")).toEqual([]);
  const { stop_grace_period: grace, environment } = accountlink;
  const delay = delayOf(environment.ACCOUNTLINK_DRAIN_DELAY);
  expect(parseInt(grace, 10)).toBeGreaterThan(delay + drain);
  expect(services.redis.command.join(" ")).toContain("--maxmemory-policy noeviction");
  for (const name of ["postgres", "redis"]) expect(services[name]?.healthcheck).toBeDefined();
});

it("the Dockerfile is valid, and runs node directly, as a user other than root", () => {
  expect(validate(dockerfile)).toEqual([]);
  expect(JSON.parse(argumentsOf("ENTRYPOINT").at(-1) ?? "[]")[0]).toBe("node");
  expect(argumentsOf("USER")).toEqual(["node"]);
});

it("the Dockerfile names only files of the checkout", async () => {
  const sources = argumentsOf("COPY").flatMap((text) => text.split(/\s+/).slice(0, -1));
  const commands = argumentsOf("RUN").flatMap(
    (text) => text.match(/\b(?:packages|tools|apps)[\w./]*/g) ?? [],
  );
  const named = [...sources, ...commands].filter((path) => !path.startsWith("/"));
  expect(named).toContain("tools/guide/guide.ts");
  for (const path of named) await expect(stat(join(root, path))).resolves.toBeTruthy();
});

const listOf = (text = "[]"): ReadonlyArray<string> => JSON.parse(text);
const [imageProgram = ""] = listOf(argumentsOf("ENTRYPOINT").at(-1)).slice(1);

it("every program, path and port that deploy/ starts is one of the image", async () => {
  const copied = argumentsOf("COPY").map((text) => text.split(/\s+/).at(-1) ?? "");
  const workdir = argumentsOf("WORKDIR").at(-1);
  expect(copied.some((path) => `${workdir}/${imageProgram}`.startsWith(`${path}/`))).toBe(true);
  await expect(stat(join(root, imageProgram))).resolves.toBeTruthy();
  expect(accountlink.entrypoint).toEqual([
    "node",
    `--env-file=/run/secrets/${accountlink.secrets[0]}`,
    imageProgram,
  ]);
  expect(accountlink.command).toEqual(listOf(argumentsOf("CMD").at(-1)));
  expect([container.command, container.args]).toEqual([undefined, undefined]);
  const [port] = argumentsOf("EXPOSE");
  expect(String(variables.ACCOUNTLINK_PORT.fallback)).toBe(port);
  const ports = [...readExample("haproxy.cfg").matchAll(/ accountlink:(\d+)/g)].map(([, each]) => each);
  expect(new Set([...ports, valueOf("ACCOUNTLINK_PORT")])).toEqual(new Set([port]));
  const published = services.balancer.ports.map((each: string) => each.split(":").at(-1));
  for (const each of published) expect(readExample("haproxy.cfg")).toContain(`bind :${each} `);
});

it("the documented commands in containers run the program of the image", async () => {
  const operating = await readFile(join(root, "docs/operating.md"), "utf8");
  const [, inCompose = ""] = /docker compose exec accountlink (.+)/.exec(operating) ?? [];
  const [, inPod = ""] = /kubectl exec deploy\/(.+)/.exec(operating) ?? [];
  const words = (line: string) => line.split(" ");
  expect(words(inCompose).slice(0, 3)).toEqual(accountlink.entrypoint);
  const [{ metadata }] = ofKind("Deployment");
  expect(words(inPod).slice(0, 5)).toEqual([metadata.name, "-i", "--", "node", imageProgram]);
  for (const [line, program] of [
    [inCompose, 3],
    [inPod, 5],
  ] as const) {
    const command = words(line).slice(program);
    const env = { ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_DATA_DIR: join(folder, `data${program}`) };
    const { stdout } = await run(process.execPath, [imageProgram, ...command], { cwd: root, env });
    expect(stdout).toMatch(/^alk_/);
  }
});

it("the hook of certbot gives HAProxy a renewed certificate, which only root can read", async () => {
  const place = (name: string) => join(folder, name);
  await Promise.all(["live", "bin", "haproxy"].map((name) => mkdir(place(name))));
  await writeFile(place("live/fullchain.pem"), "chain\n");
  await writeFile(place("live/privkey.pem"), "key\n");
  await writeFile(place("bin/systemctl"), `#!/bin/sh\necho "$@" > ${place("called")}\n`, { mode: 0o755 });
  const hook = await readFile(join(deploy, "renewed_certificate.sh"), "utf8");
  await run("sh", ["-c", hook.replace("/etc/haproxy", place("haproxy"))], {
    env: { RENEWED_LINEAGE: place("live"), PATH: `${place("bin")}:${process.env["PATH"]}` },
  });
  expect(await readFile(place("haproxy/certificate.pem"), "utf8")).toBe("chain\nkey\n");
  expect((await stat(place("haproxy/certificate.pem"))).mode & 0o777).toBe(0o600);
  expect(await readFile(place("called"), "utf8")).toBe("reload haproxy\n");
});

it("images have digests, and the Dockerfile has the Node version of the lockfile", () => {
  const [first = "", ...others] = argumentsOf("FROM").map((from) => from.split(" ")[0]);
  expect(first.split("@")[0]).toBe(`node:${process.versions.node}-slim`);
  expect(new Set(others)).toEqual(new Set([first]));
  const images = Object.values<{ image?: string }>(services).flatMap(({ image }) => image ?? []);
  expect(images).toHaveLength(3);
  for (const name of [first, ...images]) expect(name).toMatch(/^[a-z]+:[\d.]+(-slim)?@sha256:[\da-f]{64}$/);
});

it("systemd waits longer than a shutdown takes, and restarts the server without a limit", () => {
  const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  expect(Number(seconds)).toBeGreaterThan(5 + drain);
  for (const line of ["KillMode=mixed", "Restart=on-failure", "StartLimitIntervalSec=0"]) {
    expect(unit.split("\n")).toContain(line);
  }
});

it("Kubernetes stops sending requests within the drain delay, and waits longer than a shutdown takes", () => {
  expectValid(container.env.map(({ name, value }: Record<"name" | "value", string>) => [name, value]));
  const delay = delayOf(valueOf("ACCOUNTLINK_DRAIN_DELAY"));
  expect(deployment.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(delay + drain);
  const { httpGet, periodSeconds, failureThreshold } = container.readinessProbe;
  expect(httpGet.path).toBe("/readyz");
  expect(periodSeconds * failureThreshold).toBeLessThan(delay);
  for (const { kind, spec } of documents.filter(
    (each) => !/^(Deployment|Ingress|HTTPRoute)$/.test(each.kind),
  )) {
    const selector = spec.selector ?? spec.podSelector;
    expect([kind, selector.matchLabels ?? selector]).toEqual([kind, deployment.template.metadata.labels]);
  }
});

it("Kubernetes prefers a machine of its own for each server", () => {
  const [{ podAffinityTerm: term }] =
    deployment.template.spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution;
  expect(term.topologyKey).toBe("kubernetes.io/hostname");
  expect(term.labelSelector.matchLabels).toEqual(deployment.template.metadata.labels);
});

it("/metrics is on the operator port alone, which nothing in deploy/ shows to the public", () => {
  const operator = container.ports.find(({ name }: { name: string }) => name === "operator");
  expect(valueOf("ACCOUNTLINK_OPERATOR_PORT")).toBe(String(operator.containerPort));
  for (const probe of [container.startupProbe, container.livenessProbe])
    expect(probe.httpGet.port).toBe("operator");
  const shown = ofKind("Service").flatMap(({ spec }) => spec.ports);
  expect(shown.map(({ targetPort }: { targetPort: string }) => targetPort)).toEqual(["http", "http"]);
  const [{ spec: policy }] = ofKind("NetworkPolicy");
  expect(policy.policyTypes).toEqual(["Ingress"]);
  const [open, scraped, ...more] = policy.ingress;
  expect(more).toEqual([]);
  expect(open).toEqual({ ports: [{ port: "http" }] });
  expect([scraped.ports, scraped.from.length]).toEqual([[{ port: "operator" }], 1]);

  expect(accountlink.environment.ACCOUNTLINK_OPERATOR_PORT).toBe("9090");
  expect(accountlink).not.toHaveProperty("ports");
  expect(readExample("one_host.env")).toMatch(/^ACCOUNTLINK_OPERATOR_PORT=9090$/m);
});

it("a start waits nearly as long for the database as the startup probe lets it", () => {
  const { periodSeconds, failureThreshold } = container.startupProbe;
  const patience = variables.ACCOUNTLINK_DATABASE_START_TIMEOUT.parse(
    valueOf("ACCOUNTLINK_DATABASE_START_TIMEOUT"),
  );
  const share = Option.getOrThrow(patience) / (periodSeconds * failureThreshold * 1_000);
  expect([share < 0.9, share > 0.7]).toEqual([true, true]);
});

it("the Ingress leads to the servers that are ready, and waits longer than streams last", () => {
  const [{ metadata, spec }] = ofKind("Ingress");
  const [{ host, http }] = spec.rules;
  expect(spec.tls[0].hosts).toEqual([host]);
  const { service } = http.paths[0].backend;
  const named = (name: string) => ofKind("Service").find((each) => each.metadata.name === name).spec;
  expect(named(service.name).ports[0].name).toBe(service.port.name);
  const annotation = (name: string) => metadata.annotations[`nginx.ingress.kubernetes.io/${name}`];
  expect(named(annotation("default-backend")).publishNotReadyAddresses).toBe(true);
  const streamMax = Option.getOrThrow(variables.ACCOUNTLINK_STREAM_MAX.parse("30 seconds"));
  expect(Number(annotation("proxy-read-timeout")) * 1_000).toBeGreaterThan(streamMax);
});

it("the route of the Gateway API leads to the servers that are ready", () => {
  const [{ spec }] = ofKind("HTTPRoute");
  const [{ backendRefs, timeouts }] = spec.rules;
  expect(spec.hostnames).toEqual(ofKind("Ingress")[0].spec.tls[0].hosts);
  const { spec: service } = ofKind("Service").find(({ metadata }) => metadata.name === backendRefs[0].name);
  expect(service.ports[0].port).toBe(backendRefs[0].port);
  expect(service).not.toHaveProperty("publishNotReadyAddresses");
  expect(parseInt(timeouts.request, 10)).toBeGreaterThan(30);
});

it("Compose rotates the logs of every container", () => {
  for (const { logging } of Object.values<{ logging?: { options: object } }>(services)) {
    expect(logging?.options).toHaveProperty("max-size");
  }
});

it("servers of Compose and Kubernetes write no files", () => {
  expect([accountlink.read_only, container.securityContext.readOnlyRootFilesystem]).toEqual([true, true]);
  expect([accountlink.tmpfs, container.volumeMounts]).toEqual([undefined, undefined]);
});

const withoutOpenssl = await whyNoCertificate();

/** The variables that Kubernetes and links of Docker put into a container for a service and its port. */
const linksOf = (name: string, port: number) => {
  const prefix = name.toUpperCase().replaceAll("-", "_");
  const [host, url] = ["10.0.0.1", `tcp://10.0.0.1:${port}`];
  return {
    [`${prefix}_SERVICE_HOST`]: host,
    [`${prefix}_SERVICE_PORT`]: String(port),
    [`${prefix}_SERVICE_PORT_HTTP`]: String(port),
    [`${prefix}_PORT`]: url,
    [`${prefix}_PORT_${port}_TCP`]: url,
    [`${prefix}_PORT_${port}_TCP_PROTO`]: "tcp",
    [`${prefix}_PORT_${port}_TCP_PORT`]: String(port),
    [`${prefix}_PORT_${port}_TCP_ADDR`]: host,
  };
};

const assignmentsIn = (text: string) =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]));

const filledIn = {
  ...assignmentsIn(example),
  ACCOUNTLINK_SECRET: Buffer.alloc(32).toString("base64"),
  ACCOUNTLINK_PLATFORM: "none",
};
const pod = Object.fromEntries(
  container.env.map(({ name, value }: Record<"name" | "value", string>) => [name, value]),
);
const ofServices = Object.assign(
  {},
  ...ofKind("Service").map(({ metadata, spec }) => linksOf(metadata.name, spec.ports[0].port)),
);

it.each<[file: string, set: Record<string, string>, injected: Record<string, string>]>([
  ["kubernetes.yaml", { ...filledIn, ...pod }, ofServices],
  ["kubernetes.yaml without its own port", { ...filledIn, ...pod, ACCOUNTLINK_PORT: "" }, ofServices],
  ["compose.yaml", { ...filledIn, ...accountlink.environment }, linksOf("accountlink", 8080)],
  ["one_host.env", assignmentsIn(readExample("one_host.env")), { STATE_DIRECTORY: "/var/lib/accountlink" }],
])("a server starts under what %s sets, and what its platform injects", async (_, set, injected) => {
  // A container has the variables of its specification in place of links with the same name.
  const given = Object.entries(set).filter(([, value]) => value !== "");
  const environment = { ...injected, ...Object.fromEntries(given) };
  const config = await Effect.runPromise(readConfig(environment));
  expect([config.ACCOUNTLINK_PORT, config.ACCOUNTLINK_OPERATOR_PORT]).toEqual([8080, 9090]);
  await Effect.runPromise(resolveConfig(config));
  expect(deployment.template.spec.enableServiceLinks).toBe(false);
});

it.skipIf(withoutOpenssl !== null)(
  `any user of a container can read the secrets, and no other user of the machine ${withoutOpenssl ?? ""}`,
  async () => {
    const commands = [...compose.matchAll(/^# {3}(.+)$/gm)].map(([, command = ""]) => command);
    const [start, ...makeSecrets] = commands.toReversed();
    expect(start).toMatch(/^docker compose up /);
    await cp(join(deploy, "accountlink.env.example"), join(folder, "accountlink.env.example"));
    for (const name of ["fullchain.pem", "privkey.pem"]) await writeFile(join(folder, name), name);
    await run("sh", ["-ec", ["umask 077", ...makeSecrets.toReversed()].join("\n")], { cwd: folder });

    const modeOf = async (path: string) => ((await stat(join(folder, path))).mode & 0o777).toString(8);
    expect(await modeOf("secrets")).toBe("700");
    const files = Object.values<{ file: string }>(secrets).map(({ file }) => file);
    const made = (await readdir(join(folder, "secrets"))).map((name) => `./secrets/${name}`);
    expect(files.toSorted()).toEqual(made.toSorted());
    for (const file of files) expect([file, await modeOf(file)]).toEqual([file, "644"]);
  },
);

it("the start command of compose.yaml fails without the secrets", async () => {
  const { entrypoint, command, secrets: mounted } = accountlink;
  const start = async (file: string) => {
    const [program, ...args] = [...entrypoint, ...command];
    expect(program).toBe("node");
    const here = args.map((arg: string) => arg.replace(`/run/secrets/${mounted[0]}`, file));
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

describe.skipIf(!(await hasProgram("systemd-analyze")))("deploy/accountlink.service, read by systemd", () => {
  it("systemd accepts the unit, and rates its exposure as low", async () => {
    // This machine lacks the folders that the unit names, so replace them.
    const here = unit.replaceAll(/\/opt\/accountlink\/?/g, root);
    const file = join(folder, "accountlink.service");
    await writeFile(file, here);
    expect(await run("systemd-analyze", ["verify", file])).toEqual({ stdout: "", stderr: "" });
    // systemd rates the exposure from 0 to 10, where 10 means the service may do all that its user may. The threshold
    // 20 means 2.0.
    await run("systemd-analyze", ["security", "--offline=yes", "--threshold=20", file]);
  });
});
