/** Ports that open only once the server behind them can answer. */
import { lookup } from "node:dns/promises";
import { type AddressInfo, createServer, isIPv6, type Server } from "node:net";
import { Effect, type Scope } from "effect";
import { InvalidConfig, type VariableName } from "../config/config.ts";

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface Port {
  readonly url: string;
  /** Makes a server listen. All its handlers must be attached before: Node drops requests that have no handler. */
  readonly open: (server: Server) => Effect.Effect<void, InvalidConfig>;
}

/**
 * Determines the URL of a port before the port opens, and refuses one that is in use. For port 0, chooses a free port, and
 * reserves it until it opens.
 */
export const claimPort = Effect.fnUntraced(function* (
  variable: VariableName,
  address: Address,
): Effect.fn.Return<Port, InvalidConfig, Scope.Scope> {
  const refuse = (cause: unknown) => listenError(variable, address, cause);
  // Accepts an IPv6 address as URLs write it, `[::1]`.
  const name = address.host.replace(/^\[(.*)\]$/, "$1");
  const held = yield* Effect.mapError(holdPort(name, address.port), refuse);
  // Until the server opens it, a port refuses connections, so that a balancer sends the request to another node.
  if (address.port !== 0) yield* held.release;
  const { address: host } = yield* Effect.tryPromise({ try: () => lookup(name), catch: refuse });
  const { port } = held;
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    open: (server) => Effect.andThen(held.release, Effect.mapError(listen(server, { host, port }), refuse)),
  };
});

const holdPort = (host: string, port: number) =>
  Effect.gen(function* () {
    const holder = createServer((socket) => socket.destroy());
    const release = Effect.callback<void>((resume) => void holder.close(() => resume(Effect.void)));
    yield* Effect.acquireRelease(listen(holder, { host, port }), () => release);
    return { port: (holder.address() as AddressInfo).port, release };
  });

const listen = (server: Server, { host, port }: Address): Effect.Effect<void, Error> =>
  Effect.callback((resume) => {
    const fail = (error: Error) => resume(Effect.fail(error));
    server.once("error", fail);
    server.listen(port, host, () => {
      server.off("error", fail);
      resume(Effect.void);
    });
  });

/** The problem of the port and what to use, by error code. An error with another code is about the host. */
const portProblems: Readonly<Record<string, readonly [problem: string, expected: string]>> = {
  EADDRINUSE: ["is in use", "a free port"],
  EACCES: ["this user may not use", "a port above 1023, or the right CAP_NET_BIND_SERVICE"],
};

const listenError = (portVariable: VariableName, { host, port }: Address, cause: unknown): InvalidConfig => {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  const problem = portProblems[code];
  return new InvalidConfig({
    problem:
      problem === undefined
        ? `ACCOUNTLINK_HOST is "${host}", expected an address of this machine (${message})`
        : `${portVariable} is "${port}", which ${problem[0]} on "${host}", expected ${problem[1]}`,
  });
};
