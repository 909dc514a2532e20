/**
 * The paths of the dashboard.
 */
import type { KeyId, Pid } from "@accountlink/core";
import type { WebhookId } from "@accountlink/core/webhooks";

/** The paths of the dashboard, without those of its JSON. */
export const paths = {
  overview: "/dashboard",
  communities: "/dashboard/communities",
  links: "/dashboard/links",
  linksFile: "/dashboard/links.csv",
  linkUser: "/dashboard/links/user",
  link: "/dashboard/links/link",
  unlink: "/dashboard/links/unlink",
  imports: "/dashboard/imports",
  keys: "/dashboard/keys",
  newKey: "/dashboard/keys/new",
  webhooks: "/dashboard/webhooks",
  newWebhook: "/dashboard/webhooks/new",
  usage: "/dashboard/usage",
  usageFile: "/dashboard/usage.csv",
  alts: "/dashboard/alts",
  altReviews: "/dashboard/alts/reviews",
  events: "/dashboard/events",
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

/** The page of a community, by the public id of its scope. */
export const communityPath = (pid: Pid | ":pid"): `/dashboard/${string}` => `${paths.communities}/${pid}`;

/** The page of an import. */
export const importPath = (id: string): `/dashboard/${string}` => `${paths.imports}/${id}`;

/** What a form can do to a key. */
export type KeyAct = "update" | "rotate" | "status" | "revoke";

/** The page of a key. */
export const keyPath = (id: KeyId | ":id"): `/dashboard/${string}` => `${paths.keys}/${id}`;

/** Where the form of an act is sent. */
export const keyActPath = (id: KeyId | ":id", act: KeyAct): `/dashboard/${string}` => `${keyPath(id)}/${act}`;

/** What a form can do to a webhook. */
export type WebhookAct = "update" | "status" | "test" | "rotate" | "delete" | "resend";

/** The page of a webhook. */
export const webhookPath = (id: WebhookId | ":id"): `/dashboard/${string}` => `${paths.webhooks}/${id}`;

/** Where the form of an act is sent. */
export const webhookActPath = (id: WebhookId | ":id", act: WebhookAct): `/dashboard/${string}` =>
  `${webhookPath(id)}/${act}`;

/** A path with those parts of the query that have a value. */
export const withQuery = (path: string, query: Readonly<Record<string, string | number | null>>): string => {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === "" ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
};
