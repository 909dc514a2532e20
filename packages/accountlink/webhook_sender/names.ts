/** The addresses of names. */
import { lookup, Resolver } from "node:dns/promises";

/** The addresses of a name, in the order in which to try them. Rejects for a name that has none. */
export type Resolve = (name: string) => Promise<ReadonlyArray<string>>;

/** Two attempts at each name server leave time for the request. In milliseconds. */
const queryOptions = { timeout: 2_000, tries: 2 };

/**
 * Asks the name servers of the system over the network. The operating system's `getaddrinfo` occupies a thread for as
 * long as it waits, of the four that Node has for files, cryptography and all other names: a receiver whose name server
 * is silent would delay everything.
 */
export const resolveWith =
  (resolver: Pick<Resolver, "resolve4" | "resolve6">): Resolve =>
  async (name) => {
    if (/(?:^|\.)localhost\.?$/i.test(name)) return ["127.0.0.1", "::1"];
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    // IPv4 first: many networks have addresses of IPv6 that lead nowhere.
    const found = [v4, v6].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (found.length === 0 && v4.status === "rejected") throw v4.reason;
    return found;
  };

/** What name servers know. */
export const resolvePublic: Resolve = (name) => resolveWith(new Resolver(queryOptions))(name);

let lookingUp: Promise<unknown> = Promise.resolve();

/** Asks the operating system, one name at a time. */
const lookUp: Resolve = (name) => {
  const found = lookingUp.then(() => lookup(name, { all: true, order: "ipv4first" }));
  lookingUp = found.catch(() => {});
  return found.then((all) => all.map(({ address }) => address));
};

/** Asks the operating system for names without an entry in DNS: those of private networks may be in its files only. */
export const resolvePrivate: Resolve = (name) =>
  resolvePublic(name).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOTFOUND" || error.code === "ENODATA") return lookUp(name);
    throw error;
  });
