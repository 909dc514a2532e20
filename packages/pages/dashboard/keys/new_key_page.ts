import type { ParameterProblem } from "@accountlink/core/errors";
import type { OwnGuild } from "@accountlink/core/platforms";
import { html } from "../../html.ts";
import { problemSummary } from "../look/field.ts";
import type { Page, Visitor } from "../page.ts";
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
): Page => {
  const problems = refused?.problems ?? [];
  return {
    status: refused?.status ?? 200,
    title: "Create a key",
    section: "keys",
    content: html`
${refused && problemSummary(problems, keyLabels, refused.general)}
<form method="post" action="${paths.keys}" class="panel">
${scopeFields(form, guilds, problems)}
${rulesFields(form, problems)}
<button class="button">Create the key</button>
</form>
<p><a href="${paths.keys}">Back to the keys</a></p>`,
  };
};
