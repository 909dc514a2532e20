import { lookup, Resolver } from "node:dns/promises";

/** Resolves a name to addresses, in the order in which to try them. Rejects if the name has none. */
export type Resolve = (name: string) => Promise<ReadonlyArray<string>>;

/**
 * Limits the time of a DNS query, so that time remains to send the webhook before the deadline. `timeout` is in
 * milliseconds, and `tries` is the number of attempts at each name server.
 */
const queryOptions = { timeout: 2_000, tries: 2 };

/**
 * Resolves names by asking the system's name servers over the network, instead of calling the operating system's
 * `getaddrinfo`. Each call of `getaddrinfo` blocks one of Node's four threads. Files and cryptography need these
 * threads too, so a receiver with a silent name server would delay everything.
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

/** Resolves a public name by asking the system's name servers. */
export const resolvePublic: Resolve = (name) => resolveWith(new Resolver(queryOptions))(name);

let lookingUp: Promise<unknown> = Promise.resolve();

/** Resolves a name with the operating system, one name at a time. */
const lookUp: Resolve = (name) => {
  const found = lookingUp.then(() => lookup(name, { all: true, order: "ipv4first" }));
  lookingUp = found.catch(() => {});
  return found.then((all) => all.map(({ address }) => address));
};

/**
 * Resolves a name that may be private. If the name servers do not know the name, asks the operating system, which also
 * reads its own files, such as `/etc/hosts`.
 */
export const resolvePrivate: Resolve = (name) =>
  resolvePublic(name).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOTFOUND" || error.code === "ENODATA") return lookUp(name);
    throw error;
  });
