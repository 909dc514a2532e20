/** The paths of the dashboard, and the role that each needs. @internal */
import type { ChatId, KeyId, Pid } from "@accountlink/core";
import { type NeededRole, permits } from "@accountlink/core/accounts";
import type { WebhookId } from "@accountlink/core/webhooks";
import { Record } from "effect";
import { type Html, html, inPlace } from "../html.ts";
import { sections } from "./sections.ts";

export { sections };

const ofSections = Record.map(sections, ({ path }) => path);

export const paths = {
  ...ofSections,
  linksFile: "/dashboard/links.csv",
  linkUser: "/dashboard/links/user",
  link: "/dashboard/links/link",
  restoreLink: "/dashboard/links/restore",
  unlink: "/dashboard/links/unlink",
  unlinked: "/dashboard/links/unlinked",
  blocks: "/dashboard/links/blocks",
  blocksFile: "/dashboard/links/blocks.csv",
  blocksImport: "/dashboard/links/blocks/import",
  block: "/dashboard/links/block",
  blockList: "/dashboard/links/block-list",
  unblock: "/dashboard/links/unblock",
  unlinkAll: "/dashboard/links/unlink-all",
  applyRoles: "/dashboard/links/apply-roles",
  newKey: "/dashboard/keys/new",
  newWebhook: "/dashboard/webhooks/new",
  usageFile: "/dashboard/usage.csv",
  newAlts: "/dashboard/alts/new",
  altReviews: "/dashboard/alts/reviews",
  auditFile: "/dashboard/audit.csv",
  teamAdd: "/dashboard/team/add",
  teamRole: "/dashboard/team/role",
  teamRemove: "/dashboard/team/remove",
  accountName: "/dashboard/account/name",
  renameAccount: "/dashboard/account/rename",
  deleteAccount: "/dashboard/account/delete",
  chooseAccount: "/dashboard/account/choose",
  declineInvitation: "/dashboard/account/decline",
  endSignIn: "/dashboard/account/end",
  signOut: "/dashboard/sign-out",
  signedOut: "/dashboard/signed-out",
  style: "/dashboard/style.css",
  script: "/dashboard/comfort.js",
} as const;

/** The lowest role that may use the pages and forms below a path. If several paths match, the longest decides. */
const pageRoles: Readonly<Record<string, NeededRole>> = {
  ...Object.fromEntries(Object.values(sections).map(({ path, role }) => [path, role])),
  [paths.linksFile]: "admin",
  [paths.applyRoles]: "admin",
  [paths.teamAdd]: "owner",
  [paths.teamRole]: "owner",
  [paths.accountName]: "owner",
  [paths.renameAccount]: "owner",
  [paths.deleteAccount]: "owner",
  "/dashboard/communities/:pid/delete": "owner",
};

export const roleOfPage = (path: string): NeededRole =>
  Object.entries(pageRoles)
    .filter(([start]) => path.startsWith(start))
    .toSorted(([one], [other]) => other.length - one.length)[0]?.[1] ?? "owner";

/** Renders the link to a page if its reader may open the page. */
export const may = (path: string, link: Html): Html =>
  inPlace(({ reader }) => (reader && permits(reader, roleOfPage(path)) ? link : html``));

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

/** The forms that have texts or lists. */
const sizesOfForms: ReadonlyMap<string, "texts" | "lists"> = new Map([
  [paths.altReviews, "texts"],
  [paths.block, "texts"],
  [paths.blockList, "lists"],
  [paths.unblock, "texts"],
  [paths.link, "texts"],
  [paths.unlink, "texts"],
  [paths.unlinkAll, "texts"],
  [communityPath(":pid"), "texts"],
  [channelsPath(":pid"), "texts"],
  [paths.webhooks, "texts"],
  [webhookPath(":id", "update"), "texts"],
  [paths.keys, "lists"],
  [keyPath(":id", "update"), "lists"],
  [rolesPath(":pid"), "lists"],
  [rolesPreviewPath(":pid"), "lists"],
  [paths.teamAdd, "lists"],
  [paths.teamRole, "lists"],
]);

/** Returns how large the form at a path may be, as a name of `formSizes`. */
export const sizeOfForm = (path: string): "ids" | "texts" | "lists" => sizesOfForms.get(path) ?? "ids";
