/**
 * Where a command works, so that what it prints can name it.
 */
import { Context, Redacted } from "effect";
import type { Storage } from "./plan.ts";

export class Place extends Context.Service<
  Place,
  {
    /** `data folder "data"` or `database "db.internal:5432/links"`, for a person. */
    readonly text: string;
    /** The same for a program. */
    readonly json: { readonly folder: string } | { readonly database: string };
  }
>()("@accountlink/server/Place") {}

/** A storage that outlives its server. */
export type LastingStorage = Exclude<Storage, { readonly kind: "memory" }>;

export const placeOf = (storage: LastingStorage): Place["Service"] => {
  if (storage.kind === "embedded") {
    return { text: `data folder "${storage.folder}"`, json: { folder: storage.folder } };
  }
  const { host, pathname } = new URL(Redacted.value(storage.url));
  return { text: `database "${host}${pathname}"`, json: { database: `${host}${pathname}` } };
};
