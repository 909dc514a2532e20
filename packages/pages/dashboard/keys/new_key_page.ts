import type { ParameterProblem } from "@accountlink/core/errors";
import type { OwnGuild } from "@accountlink/core/platforms";
import { type Html, html } from "../../html.ts";
import { problemSummary } from "../look/field.ts";
import type { Page } from "../page.ts";
import { paths } from "../paths.ts";
import { keyLabels, type NewKeyForm, rulesFields, scopeFields } from "./key_form.ts";

export interface Refused {
  readonly status: number;
  readonly problems: ReadonlyArray<ParameterProblem>;
  /** An error message about the whole form; null if every message concerns a field. */
  readonly general: string | null;
}

export const emptyKeyForm: NewKeyForm = {
  name: "",
  scope: "guild",
  guildId: "",
  access: "full",
  allowIps: "",
  denyIps: "",
  redirectOrigins: "",
  lastDay: "",
};

/**
 * @param guilds the owner's guilds; null if the chat platform did not report them
 * @param refused why the form is shown again; null for a new form
 */
export const newKeyPage = (
  form: NewKeyForm,
  guilds: ReadonlyArray<OwnGuild> | null,
  refused: Refused | null,
): Page =>
  creationPage("keys", "key", keyLabels, refused, (problems) => [
    scopeFields(form, guilds, problems),
    rulesFields(form, problems),
  ]);

/** The page with the form that creates a key or a webhook. */
export const creationPage = (
  section: "keys" | "webhooks",
  thing: string,
  labels: Readonly<Record<string, string>>,
  refused: Refused | null,
  fields: (problems: Refused["problems"]) => ReadonlyArray<Html>,
): Page => ({
  status: refused?.status ?? 200,
  title: `Create a ${thing}`,
  section,
  content: html`
${refused && problemSummary(refused.problems, labels, refused.general)}
<form method="post" action="${paths[section]}" class="panel">
${fields(refused?.problems ?? [])}
<button class="button">Create the ${thing}</button>
</form>
<p><a href="${paths[section]}">Back to the ${thing}s</a></p>`,
});
