/**
 * The paths of the dashboard.
 */
import type { KeyId } from "@accountlink/core";

/** The paths of the dashboard, without those of its JSON. */
export const paths = {
  overview: "/dashboard",
  keys: "/dashboard/keys",
  newKey: "/dashboard/keys/new",
  usage: "/dashboard/usage",
  usageFile: "/dashboard/usage.csv",
  alts: "/dashboard/alts",
  altReviews: "/dashboard/alts/reviews",
  audit: "/dashboard/audit",
  auditFile: "/dashboard/audit.csv",
  trial: "/dashboard/try",
  preview: "/dashboard/preview",
  account: "/dashboard/account",
  endSignIn: "/dashboard/account/end",
  signOut: "/dashboard/sign-out",
  style: "/dashboard/style.css",
  script: "/dashboard/comfort.js",
} as const;

/** What a form can do to a key. */
export type KeyAct = "update" | "rotate" | "status" | "revoke";

/** The page of a key. */
export const keyPath = (id: KeyId | ":id"): `/dashboard/${string}` => `${paths.keys}/${id}`;

/** Where the form of an act is sent. */
export const keyActPath = (id: KeyId | ":id", act: KeyAct): `/dashboard/${string}` => `${keyPath(id)}/${act}`;

/** A path with those parts of the query that have a value. */
export const withQuery = (path: string, query: Readonly<Record<string, string | number | null>>): string => {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === "" ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
};
