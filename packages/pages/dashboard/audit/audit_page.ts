import { allows, readableActions } from "@accountlink/core/accounts";
import { type AuditAction, type AuditEntry, auditActions } from "@accountlink/core/audit";
import type { ParameterProblem } from "@accountlink/core/errors";
import type { KeyDetails } from "@accountlink/core/keys";
import { html } from "../../html.ts";
import { menuField, textField } from "../look/field.ts";
import { keyMenu } from "../look/key_menu.ts";
import type { Page, Visitor } from "../page.ts";
import { paths, withQuery } from "../paths.ts";
import { actions } from "./actions.ts";
import { historyHtml } from "./history.ts";
import type { Names } from "./sentences.ts";

export interface AuditFilter {
  readonly action: AuditAction | null;
  readonly keyId: string | null;
  /** The ID or name of a chat user, as typed; null for all users. */
  readonly chatId: string | null;
}

export interface AuditView {
  readonly entries: ReadonlyArray<AuditEntry>;
  /** Cursor of the older entries; null at the end. */
  readonly next: string | null;
  readonly keys: ReadonlyArray<KeyDetails>;
  readonly names: Names;
}

export const auditPage = (
  { entries, next, keys, names }: AuditView,
  filter: AuditFilter,
  { platforms, role }: Pick<Visitor, "platforms" | "role">,
  problems: ReadonlyArray<ParameterProblem>,
): Page => {
  const isAdmin = allows(role, "admin");
  return {
    status: problems.length === 0 ? 200 : 400,
    title: "Audit log",
    section: "audit",
    content: html`
<p>Every change of ${isAdmin ? "keys and links" : "links and reviews"}, newest first. The log contains no secrets and no IP addresses of users.</p>
<form method="get" action="${paths.audit}" class="filters">
${menuField({
  name: "action",
  label: "Action",
  value: filter.action ?? "",
  problems: [],
  choices: [
    { value: "", label: "All actions" },
    ...(readableActions(role) ?? auditActions).map((value) => ({ value, label: actions[value] })),
  ],
})}
${isAdmin ? keyMenu(keys, filter.keyId) : null}
${textField({ name: "chatId", label: `About the account on ${platforms.chat}`, hint: "ID or user name", type: "search", value: filter.chatId ?? "", problems })}
<button class="button quiet">Show</button>
</form>
${historyHtml(entries, names, Object.values(filter).every((value) => value === null) ? undefined : "Nothing in the log matches.")}
<p class="more">${
      next === null
        ? null
        : html`<a class="button quiet" href="${withQuery(paths.audit, { ...filter, cursor: next })}">Older entries</a> `
    }<a href="${withQuery(paths.auditFile, { ...filter })}">Download as CSV</a></p>`,
  };
};
