/** The paths of the dashboard, and the role that each needs. @internal */
import type { ChatId, KeyId, Pid } from "@accountlink/core";
import { type NeededRole, permits } from "@accountlink/core/accounts";
import type { WebhookId } from "@accountlink/core/webhooks";
import { Record } from "effect";
import { type Html, html, inPlace, to } from "../html.ts";
import { sections } from "./sections.ts";

export { sections };

/** What a page or form needs, if it is not the same as of the section around it. */
interface Needed {
  readonly path: `/dashboard${string}`;
  /** The lowest role for the pages and forms below the path. */
  readonly role?: NeededRole;
  /** What the form has besides IDs and names. */
  readonly form?: "texts" | "lists";
}

const others = {
  linksFile: { path: "/dashboard/links.csv", role: "admin" },
  linkUser: { path: "/dashboard/links/user" },
  link: { path: "/dashboard/links/link", form: "texts" },
  restoreLink: { path: "/dashboard/links/restore" },
  unlink: { path: "/dashboard/links/unlink", form: "lists" },
  unlinked: { path: "/dashboard/links/unlinked" },
  blocks: { path: "/dashboard/links/blocks" },
  blocksFile: { path: "/dashboard/links/blocks.csv" },
  blocksImport: { path: "/dashboard/links/blocks/import" },
  block: { path: "/dashboard/links/block", form: "texts" },
  blockList: { path: "/dashboard/links/block-list", form: "lists" },
  unblock: { path: "/dashboard/links/unblock", form: "texts" },
  unlinkAll: { path: "/dashboard/links/unlink-all", form: "lists" },
  applyRoles: { path: "/dashboard/links/apply-roles", role: "admin" },
  newKey: { path: "/dashboard/keys/new" },
  newWebhook: { path: "/dashboard/webhooks/new" },
  usageFile: { path: "/dashboard/usage.csv" },
  newAlts: { path: "/dashboard/alts/new" },
  altReviews: { path: "/dashboard/alts/reviews", form: "texts" },
  auditFile: { path: "/dashboard/audit.csv" },
  teamAdd: { path: "/dashboard/team/add", role: "owner", form: "lists" },
  teamRole: { path: "/dashboard/team/role", role: "owner", form: "lists" },
  teamRemove: { path: "/dashboard/team/remove" },
  accountName: { path: "/dashboard/account/name", role: "owner" },
  renameAccount: { path: "/dashboard/account/rename", role: "owner" },
  deleteAccount: { path: "/dashboard/account/delete", role: "owner" },
  chooseAccount: { path: "/dashboard/account/choose" },
  declineInvitation: { path: "/dashboard/account/decline" },
  endSignIn: { path: "/dashboard/account/end" },
  signOut: { path: "/dashboard/sign-out" },
  signedOut: { path: "/dashboard/signed-out" },
  style: { path: "/dashboard/style.css" },
  script: { path: "/dashboard/comfort.js" },
} as const satisfies Readonly<Record<string, Needed>>;

export const paths = Record.map({ ...sections, ...others }, ({ path }) => path);

/** Renders the link to a page if its reader may open the page, or else what stands in its place. */
export const may = (path: string, link: Html, otherwise: Html = html``): Html =>
  inPlace(({ reader }) => (reader && permits(reader, roleOfPage(path)) ? link : otherwise));

/** A tag of messages that leads to a page, for readers who may open it. */
export const mayLinkTo =
  (path: string) =>
  (content: Html): Html =>
    may(path, html`<a href="${to(path)}">${content}</a>`, content);

const below = (
  path: typeof paths.overview | `/dashboard/${string}`,
  id: string,
  act?: string,
): `/dashboard/${string}` => (act === undefined ? `${path}/${id}` : `${path}/${id}/${act}`);

const ofCommunity =
  <const Act extends string>(act: Act) =>
  (pid: Pid | ":pid") =>
    `${paths.communities}/${pid}${act}` as const;

export const communityPath = ofCommunity("");
export const deleteDataPath = ofCommunity("/delete");
export const rolesPath = ofCommunity("/roles");
export const channelsPath = ofCommunity("/channels");
export const nicknamesPath = ofCommunity("/roles/nicknames.csv");
export const historyPath = ofCommunity("/roles/history");
export const historyFilePath = ofCommunity("/roles/history.csv");
export const rolesPreviewPath = ofCommunity("/roles/preview");
export const previewMembersPath = ofCommunity("/roles/preview/members");

export const importPath = (id: string, act?: string) => below(paths.imports, id, act);

export type KeyAct = "update" | "rotate" | "status" | "revoke";

export const keyPath = (id: KeyId | ":id", act?: KeyAct) => below(paths.keys, id, act);

export type WebhookAct = "update" | "status" | "test" | "rotate" | "delete" | "resend" | "send-pending";

export const webhookPath = (id: WebhookId | ":id", act?: WebhookAct) => below(paths.webhooks, id, act);

export const deliveryPath = (id: WebhookId | ":id", eventId: string) =>
  below(webhookPath(id), "deliveries", eventId);

/** Adds the query parameters that have a value to a path. */
export const withQuery = (path: string, query: Readonly<Record<string, string | number | null>>): string => {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === "" ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
};

/** The page of a chat user in a list; without a list, in all lists. */
export const userPath = (pid: Pid | null, chatId: ChatId): string =>
  withQuery(paths.linkUser, { pid, chatId });

const needs: ReadonlyArray<Needed> = [
  ...Object.values(sections),
  ...Object.values(others),
  { path: deleteDataPath(":pid"), role: "owner" },
  { path: communityPath(":pid"), form: "texts" },
  { path: channelsPath(":pid"), form: "texts" },
  { path: rolesPath(":pid"), form: "lists" },
  { path: rolesPreviewPath(":pid"), form: "lists" },
  { path: paths.webhooks, form: "texts" },
  { path: webhookPath(":id", "update"), form: "texts" },
  { path: paths.keys, form: "lists" },
  { path: keyPath(":id", "update"), form: "lists" },
];

/** Returns the lowest role that may use the page or form at a path. If several rows match, the longest path decides. */
export const roleOfPage = (path: string): NeededRole =>
  needs
    .filter(({ path: start, role }) => role !== undefined && path.startsWith(start))
    .toSorted((one, other) => other.path.length - one.path.length)[0]?.role ?? "owner";

/** Returns how large the form at a path may be, as a name of `formSizes`. */
export const sizeOfForm = (path: string): "ids" | "texts" | "lists" =>
  needs.find((each) => each.path === path && each.form !== undefined)?.form ?? "ids";
