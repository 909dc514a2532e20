/** The pages of a key or webhook before and after its creation. */

import type { ChatId } from "@accountlink/core";
import type { MemberRole } from "@accountlink/core/accounts";
import type { KeyDetails } from "@accountlink/core/keys";
import type { OwnGuild } from "@accountlink/core/platforms";
import type { Millis } from "@accountlink/core/timestamp";
import { type Html, html, to } from "../../html.ts";
import type { Fields } from "../form_fields.ts";
import { copyable } from "../look/copyable.ts";
import { panelTo } from "../look/field.ts";
import { statusHtml } from "../look/notice.ts";
import { nameOf } from "../look/owned_key.ts";
import type { Refused } from "../look/refused.ts";
import { timeHtml } from "../look/time.ts";
import type { Page } from "../page.ts";
import { keyPath, paths, rolesPath, withQuery } from "../paths.ts";
import { keyLabels, type NewKeyForm, rulesFields, scopeFields } from "./key_form.ts";
import { curlOf } from "./try_lookup.ts";

/** @param guilds the owner's guilds; null if the chat platform did not report them */
export const newKeyPage = (
  form: NewKeyForm,
  guilds: ReadonlyArray<OwnGuild> | null,
  role: MemberRole,
  shown: ShownForm,
): Page =>
  creationPage("keys", "key", keyLabels, shown, [scopeFields(form, guilds), rulesFields(form, role)]);

/** A key or webhook of the account. */
export interface Made {
  readonly createdAt: Millis;
  readonly name: string;
  readonly path: string;
}

export interface ShownForm {
  readonly refused: Refused | null;
  readonly newest: Made | undefined;
}

/**
 * Refuses a form if something was created after it was opened. Without a script, a reload of the page that shows a secret
 * sends the form again.
 */
export const refusedIfSent = (thing: string, fields: Fields, newest: Made | undefined): Refused | null =>
  newest === undefined || fields.all("seen").every((seen) => newest.createdAt <= Number(seen))
    ? null
    : {
        status: 409,
        problems: [],
        general: html`Nothing was created: <a href="${to(newest.path)}">${newest.name}</a> was created after this form was
          opened, perhaps by it. If you have not copied its secret, rotate it there. To create another ${thing}, send the
          form again.`,
      };

export const creationPage = (
  section: "keys" | "webhooks",
  thing: string,
  labels: Readonly<Record<string, string>>,
  { refused, newest }: ShownForm,
  fields: ReadonlyArray<Html>,
): Page => ({
  title: `Create a ${thing}`,
  section,
  refused,
  labels,
  content: html`
${panelTo(paths[section], { seen: String(newest?.createdAt ?? 0) })`
${fields}
<button class="button">Create the ${thing}</button>`}
<p><a href="${to(paths[section])}">Back to the ${thing}s</a></p>`,
});

/** A key with its token, which is shown only once. */
export interface Issued {
  readonly key: KeyDetails;
  readonly token: string;
  /** True for a new key; false for an existing key that got a new secret. */
  readonly isNew: boolean;
}

/** @param chatId the owner's chat ID, which the example request looks up */
export const issuedPage = ({ key, token, isNew }: Issued, publicUrl: string, chatId: ChatId): Page => {
  const guildId = key.scope.kind === "guild" ? key.scope.guildId : null;
  const url = `${publicUrl}${withQuery("/v2/chat", { chatId, guildId })}`;
  return {
    status: isNew ? 201 : 200,
    title: isNew ? "Your new key" : "The new secret of your key",
    section: "keys",
    notice: statusHtml(
      html`<strong>${nameOf(key)}</strong> ${isNew ? "is ready" : "has a new secret"}. The whole key is shown only this
        once: copy it now, and store it as a secret of your bot or server.`,
    ),
    content: html`
<section class="panel" data-leaves-for="${to(keyPath(key.id))}">
<h2>The key</h2>
${copyable("token", "key", token)}
<h2>Try it in a terminal</h2>
${copyable("curl", "command", `export ACCOUNTLINK_KEY='${token}'\n${curlOf(url, "$ACCOUNTLINK_KEY")}`)}
<p>${
      key.previousSecretEndsAt !== null &&
      html`The secret before this one is accepted until ${timeHtml(key.previousSecretEndsAt)}. Replace it in your
          programs before then. `
    }Anyone who has the key can use it: keep it out of web pages, logs and repositories.</p>
</section>
<p class="row"><a class="button quiet" href="${to(keyPath(key.id))}">I have copied it</a>${
      isNew ? html` <a class="button quiet" href="${to(rolesPath(key.scope.pid))}">Choose roles</a>` : null
    }</p>`,
  };
};
