import { lookup, Resolver } from "node:dns/promises";

/** Resolves a name to addresses, in the order in which to try them. Rejects if the name has none. */
export type Resolve = (name: string) => Promise<ReadonlyArray<string>>;

/**
 * `timeout` is in milliseconds. With only two attempts at each name server, time remains for the request before its
 * deadline.
 */
const queryOptions = { timeout: 2_000, tries: 2 };

/**
 * Resolves names by asking the system's name servers over the network. The operating system's `getaddrinfo` would block
 * one of Node's four threads, which files, cryptography and all other names need too: a receiver with a silent name
 * server would delay everything.
 */
export const resolveWith =
  (resolver: Pick<Resolver, "resolve4" | "resolve6">): Resolve =>
  async (name) => {
    if (/(?:^|\.)localhost\.?$/i.test(name)) return ["127.0.0.1", "::1"];
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    // IPv4 first: on many networks, IPv6 addresses are unreachable.
    const found = [v4, v6].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (found.length === 0 && v4.status === "rejected") throw v4.reason;
    return found;
  };

/** Resolves a name by name servers, which know every public name. */
export const resolvePublic: Resolve = (name) => resolveWith(new Resolver(queryOptions))(name);

let lookingUp: Promise<unknown> = Promise.resolve();

/** Resolves a name with the operating system, one name at a time. */
const lookUp: Resolve = (name) => {
  const found = lookingUp.then(() => lookup(name, { all: true, order: "ipv4first" }));
  lookingUp = found.catch(() => {});
  return found.then((all) => all.map(({ address }) => address));
};

/** Resolves a name that may be private. Names without a DNS entry may be in files of the operating system. */
export const resolvePrivate: Resolve = (name) =>
  resolvePublic(name).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOTFOUND" || error.code === "ENODATA") return lookUp(name);
    throw error;
  });
