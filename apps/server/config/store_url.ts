/** What the server reads of the URLs of its stores, which have forms that `URL` cannot parse. */
import {
  endpointsOf,
  endpointText,
  parse as parseRedisUrl,
  pathOf,
  forms as redisForms,
} from "@accountlink/redis/redis_url";
import { partsOf, form as postgresForm } from "@accountlink/sql/postgres_url";
import { Option } from "effect";

/** The forms that the documents list and tests start servers with. */
export const storeForms: ReadonlyArray<string> = [postgresForm, ...redisForms];

export const cacheForms: ReadonlyArray<string> = redisForms;

/** A cluster is no storage, because a commit changes keys of every slot. */
export const storageForms: ReadonlyArray<string> = [
  postgresForm,
  ...redisForms.filter((form) => !form.startsWith("redis+cluster:")),
];

export const isPostgresUrl = (url: string): boolean => partsOf(url) !== null;

export const isStorageUrl = (url: string): boolean =>
  Option.exists(parseRedisUrl(url), ({ kind }) => kind !== "cluster");

export const isCacheUrl = (url: string): boolean => Option.isSome(parseRedisUrl(url));

interface StorePlace {
  /** The address, as messages name the store. */
  readonly path: string;
  /** `host:port` of each server, as errors of connections name it. */
  readonly endpoints: ReadonlyArray<string>;
}

/** Where a URL of an accepted form leads, without user and password. */
export const placeOf = (url: string): StorePlace => {
  const postgres = partsOf(url);
  if (postgres !== null) {
    const { path, host, port } = postgres;
    return { path, endpoints: [endpointText({ host, port }), `${host}:${port}`] };
  }
  return Option.match(parseRedisUrl(url), {
    onNone: () => ({ path: "malformed URL", endpoints: [] }),
    onSome: (address) => ({
      path: pathOf(address),
      endpoints: endpointsOf(address).flatMap(({ host, port }) => [
        endpointText({ host, port }),
        `${host}:${port}`,
      ]),
    }),
  });
};
