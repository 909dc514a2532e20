/** Runs the load balancers of deploy/ from their files, with the addresses of this machine. */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { type Agent, request } from "node:https";
import { userInfo } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import {
  makeCertificate,
  startHaproxy,
  startNginx,
  whyNoCertificate,
  whyNoHaproxy,
  whyNoNginx,
} from "@accountlink/test-servers";
import { Effect } from "effect";
import { parse } from "yaml";

export const readExample = (name: string): string =>
  readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8");

interface BalancerOptions {
  /** Where the servers listen, as `host:port`. */
  readonly servers: ReadonlyArray<string>;
  readonly changes?: Readonly<Record<string, string>>;
}

/** File descriptor limit of the balancer in compose.yaml. */
const { nofile: descriptors } = parse(readExample("compose.yaml")).services.balancer.ulimits;

const serverTemplate = "server-template node 3 accountlink:8080 resolvers compose init-addr none";

const startHaproxyExample = Effect.fnUntraced(function* ({ servers, changes = {} }: BalancerOptions) {
  const { certificate, key } = yield* makeCertificate;
  const both = `${certificate}.and_key`;
  yield* Effect.promise(async () =>
    writeFile(both, (await readFile(certificate, "utf8")) + (await readFile(key, "utf8"))),
  );
  const configFor = (port: number) =>
    replaced(readExample("haproxy.cfg"), {
      ...changes,
      "bind :8443": `bind 127.0.0.1:${port}`,
      "/run/secrets/certificate.pem": both,
      [serverTemplate]: servers.map((server, index) => `server node${index} ${server}`).join("\n  "),
    });
  return yield* startHaproxy(configFor, { descriptors });
});

const startNginxExample = Effect.fnUntraced(function* ({ servers, changes = {} }: BalancerOptions) {
  const { certificate, key } = yield* makeCertificate;
  const example = readExample("nginx.conf");
  const serverLine = /^ {4}server 10\.0\.0\.11:8080(.*;)$/m;
  const [line = "", parameters = ""] = serverLine.exec(example) ?? [];
  return yield* startNginx((port, folder) =>
    replaced(example, {
      ...changes,
      // Its workers write large bodies into the folder.
      "worker_processes auto;": `${userInfo().uid === 0 ? "user root root;" : ""} worker_processes auto;`,
      "worker_connections 4096": "worker_connections 200",
      "http {": `http {\n  access_log off;\n${temporaryPaths(folder)}`,
      "listen 443": `listen 127.0.0.1:${port}`,
      "/etc/nginx/fullchain.pem": certificate,
      "/etc/nginx/privkey.pem": key,
      [line]: servers.map((server) => `    server ${server}${parameters}`).join("\n"),
      [line.replace(".11:", ".12:")]: "",
      [line.replace(".11:", ".13:")]: "",
    }),
  );
});

/**
 * Returns settings that put nginx's buffers into this folder, because the default folders exist only after an install.
 */
const temporaryPaths = (folder: string): string =>
  ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `  ${name}_temp_path ${join(folder, name)};`)
    .join("\n");

/**
 * The balancers with an example in deploy/. `cappedAt` changes the connection limit per address. `behindProxy` adds the
 * lines that the balancer needs behind another proxy. `checksAreQuick` makes it notice sooner that a server is not ready.
 */
export const balancers = [
  {
    name: "haproxy",
    file: "haproxy.cfg",
    whyNone: async () => (await whyNoHaproxy()) ?? (await whyNoCertificate()),
    start: startHaproxyExample,
    cappedAt: (connections: number) => ({ "conn_cur gt 256": `conn_cur gt ${connections}` }),
    checksAreQuick: { "check inter 1s": "check inter 100ms" },
    behindProxy: (line: string) => ({ "\n  http-request del-header X-Forwarded-For\n": `\n  ${line}\n` }),
  },
  {
    name: "nginx",
    file: "nginx.conf",
    whyNone: async () => (await whyNoNginx()) ?? (await whyNoCertificate()),
    start: startNginxExample,
    cappedAt: (connections: number) => ({ "clients 256": `clients ${connections}` }),
    checksAreQuick: {},
    behindProxy: (lines: string) => ({ "limit_conn clients": `${lines}\n    limit_conn clients` }),
  },
];

/** Replaces each key of `changes` in a text with its value. Throws if the text does not contain a key. */
const replaced = (whole: string, changes: Readonly<Record<string, string>>): string => {
  let changed = whole;
  for (const [from, to] of Object.entries(changes)) {
    if (!changed.includes(from)) throw new Error(`Cannot change an example: it does not have "${from}"`);
    changed = changed.replaceAll(from, to);
  }
  return changed;
};

export interface AskOptions {
  readonly method?: string;
  /** Sent as `X-Forwarded-For`. */
  readonly says?: string;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Keeps connections; by default, each request has its own. */
  readonly agent?: Agent;
}

/** Sends a request to a balancer, whose certificate is self-signed. */
export const ask = async (
  options: AskOptions & {
    readonly port: number;
    readonly path: string;
    readonly from: string;
    readonly key: string;
  },
) => {
  const { method = "GET", port, path, from, key, says, signal, headers, body = "", agent = false } = options;
  const outgoing = request({
    method,
    host: "127.0.0.1",
    port,
    path,
    localAddress: from,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === "" ? {} : { "content-type": "application/json", "content-length": body.length }),
      ...(says === undefined ? {} : { "x-forwarded-for": says }),
      ...headers,
    },
    agent,
    rejectUnauthorized: false,
    ...(signal === undefined ? {} : { signal }),
  });
  // A server that refuses a body closes the connection before it has read all of it.
  outgoing.on("error", () => {});
  outgoing.end(body);
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  return { status: incoming.statusCode, headers: incoming.headers, body: await text(incoming) };
};
