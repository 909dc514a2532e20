/** Parses the URL of a Redis server, of sentinels or of a cluster. @internal */
import { Option } from "effect";

export interface RedisEndpoint {
  readonly host: string;
  readonly port: number;
}

interface Login {
  readonly username?: string;
  readonly password?: string;
}

interface Access extends Login {
  readonly tls: boolean;
}

export type RedisAddress =
  | (Access & RedisEndpoint & { readonly kind: "single"; readonly database: number })
  | (Access & {
      readonly kind: "sentinel";
      readonly sentinels: ReadonlyArray<RedisEndpoint>;
      readonly master: string;
      readonly database: number;
      readonly sentinelLogin: Login;
    })
  | (Access & { readonly kind: "cluster"; readonly nodes: ReadonlyArray<RedisEndpoint> });

/** The accepted forms of a Redis URL. The scheme `rediss` instead of `redis` uses TLS. */
export const forms = [
  "redis://[[user]:password@]host[:6379][/database]",
  "redis+sentinel://[[user]:password@]host[:26379][,host…]/master[/database][?sentinelUsername=…&sentinelPassword=…]",
  "redis+cluster://[[user]:password@]host[:6379][,host…]",
] as const;

const shape =
  /^(?<scheme>rediss?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<login>.*)@)?(?<hosts>[^@/?]+)(?<path>\/[^?@]*)?(?:\?(?<query>[^@]*))?$/;

/** Parses a URL; none if it is malformed. Special characters of user names and passwords are percent-encoded. */
export const parse = (url: string): Option.Option<RedisAddress> => {
  const groups = shape.exec(url)?.groups;
  if (groups === undefined) return Option.none();
  try {
    return Option.fromNullishOr(addressOf(groups));
  } catch {
    // `decodeURIComponent` throws if the percent-encoding is malformed.
    return Option.none();
  }
};

const addressOf = (groups: Readonly<Record<string, string | undefined>>): RedisAddress | null => {
  const { scheme, kind, login = "", hosts = "", path = "", query = "" } = groups;
  const endpoints = hosts.split(",").map((host) => endpointOf(host, kind === "sentinel" ? 26_379 : 6_379));
  const access = { tls: scheme === "rediss", ...loginOf(login) };
  if (endpoints.includes(null) || (access.username !== undefined && access.password === undefined))
    return null;

  const nodes = endpoints as ReadonlyArray<RedisEndpoint>;
  if (kind === "sentinel") return sentinelOf(access, nodes, path, query);
  if (query !== "") return null;
  return kind === "cluster" ? clusterOf(access, nodes, path) : singleOf(access, nodes, path);
};

const singleOf = (access: Access, nodes: ReadonlyArray<RedisEndpoint>, path: string): RedisAddress | null => {
  const [node, ...others] = nodes;
  const database = databaseOf(path.slice(1));
  if (node === undefined || others.length > 0 || database === null) return null;
  return { kind: "single", ...access, ...node, database };
};

/** A cluster has only one database. */
const clusterOf = (access: Access, nodes: ReadonlyArray<RedisEndpoint>, path: string): RedisAddress | null =>
  path === "" || path === "/" ? { kind: "cluster", ...access, nodes } : null;

const sentinelOf = (
  access: Access,
  sentinels: ReadonlyArray<RedisEndpoint>,
  path: string,
  query: string,
): RedisAddress | null => {
  const [master = "", number = "", ...others] = path.slice(1).split("/");
  const { sentinelUsername, sentinelPassword, ...unknown } = Object.fromEntries(new URLSearchParams(query));
  const database = databaseOf(number);
  if (master === "" || others.length > 0 || database === null || Object.keys(unknown).length > 0) return null;
  const sentinelLogin = loginWith(sentinelUsername, sentinelPassword);
  return {
    kind: "sentinel",
    ...access,
    sentinels,
    master: decodeURIComponent(master),
    database,
    sentinelLogin,
  };
};

const endpointOf = (text: string, fallbackPort: number): RedisEndpoint | null => {
  const groups = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<name>[\w.-]+))(?::(?<port>\d{1,5}))?$/.exec(text)?.groups;
  const host = groups?.["v6"] ?? groups?.["name"];
  const port = Number(groups?.["port"] ?? fallbackPort);
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port };
};

const databaseOf = (text: string): number | null => (/^\d{0,5}$/.test(text) ? Number(text) : null);

const loginOf = (text: string): Login => {
  const [username = "", ...rest] = text.split(":");
  return loginWith(decodeURIComponent(username), decodeURIComponent(rest.join(":")));
};

const loginWith = (username = "", password = ""): Login => ({
  ...(username === "" ? {} : { username }),
  ...(password === "" ? {} : { password }),
});

/** The servers that a URL names: one, the sentinels, or nodes of a cluster. */
export const endpointsOf = (address: RedisAddress): ReadonlyArray<RedisEndpoint> => {
  if (address.kind === "single") return [address];
  return address.kind === "cluster" ? address.nodes : address.sentinels;
};

/** The address for messages: `host:port`, all nodes of a cluster, or `master at host:port` for sentinels. */
export const pathOf = (address: RedisAddress): string => {
  const servers = endpointsOf(address).map(endpointText).join(",");
  if (address.kind === "cluster") return servers;
  const database = address.database === 0 ? "" : `/${address.database}`;
  return address.kind === "single" ? `${servers}${database}` : `${address.master}${database} at ${servers}`;
};

export const endpointText = ({ host, port }: RedisEndpoint): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;
