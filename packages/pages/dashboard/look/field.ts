/** Fields of forms: a label, a hint, and what is wrong with the value, all read out with the control. */
import type { ParameterProblem } from "@accountlink/core/errors";
import { type Html, html } from "../../html.ts";

export const csrfField = (csrf: string): Html => html`<input type="hidden" name="csrf" value="${csrf}">`;

export interface Field {
  readonly name: string;
  readonly label: string | Html;
  readonly hint?: string | Html;
  /** The problems of the whole form. */
  readonly problems: ReadonlyArray<ParameterProblem>;
}

/** A field around its control, which gets the attributes that tie them together. */
const around = (field: Field, control: (attributes: Html) => Html): Html => {
  const { name, label, hint = null } = field;
  const reasons = reasonsOf(field);
  return html`
<div class="field">
<label for="${name}">${label}</label>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${reasons.length === 0 ? null : html`<p class="problem" id="${name}-problem">${sentence(reasons)}</p>`}
${control(html` id="${name}" name="${name}"${describedBy(field)}`)}
</div>`;
};

const reasonsOf = ({ name, problems }: Pick<Field, "name" | "problems">): ReadonlyArray<string> =>
  problems.filter((problem) => problem.name === name).map(({ reason }) => reason);

const sentence = (reasons: ReadonlyArray<string>): string => {
  const text = reasons.join("; ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
};

const describedBy = (field: Field): Html | null => {
  const isWrong = reasonsOf(field).length > 0;
  const ids = [field.hint === undefined ? null : "hint", isWrong ? "problem" : null]
    .filter((part) => part !== null)
    .map((part) => `${field.name}-${part}`);
  if (ids.length === 0) return null;
  return html` aria-describedby="${ids.join(" ")}"${isWrong ? html` aria-invalid="true"` : null}`;
};

export const textField = (
  field: Field & {
    readonly value: string;
    readonly type?: "text" | "date" | "password" | "search";
    readonly maxLength?: number;
    readonly required?: true;
    /** The text that a script waits for before the form can be sent. */
    readonly awaited?: string;
    /** Whether a script keeps the value for the tab. */
    readonly isKept?: true;
  },
): Html =>
  around(
    field,
    (attributes) =>
      html`<input type="${field.type ?? "text"}"${attributes} value="${field.value}" autocomplete="off" spellcheck="false"${
        field.maxLength === undefined ? null : html` maxlength="${field.maxLength}"`
      }${field.required === true ? html` required` : null}${field.awaited === undefined ? null : html` data-awaits="${field.awaited}"`}${field.isKept === true ? html` data-kept` : null}>`,
  );

/** Several lines of text, one entry on each. */
export const linesField = (field: Field & { readonly value: string }): Html =>
  around(
    field,
    // The first line feed after the tag is not part of the value.
    (attributes) =>
      html`<textarea${attributes} rows="2" autocomplete="off" spellcheck="false">
${field.value}</textarea>`,
  );

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

/** One of several values, from a menu. */
export const menuField = (
  field: Field & { readonly value: string; readonly choices: ReadonlyArray<Choice> },
): Html =>
  around(
    field,
    (attributes) => html`<select${attributes}>
${field.choices.map(
  ({ value, label }) =>
    html`<option value="${value}"${value === field.value ? html` selected` : null}>${label}</option>`,
)}
</select>`,
  );

/** One of a few values, all of them in sight. */
export const radioField = (
  field: Field & { readonly value: string; readonly choices: ReadonlyArray<Choice> },
): Html => html`
<fieldset class="field" id="${field.name}"${describedBy(field)}>
<legend>${field.label}</legend>
${field.hint === undefined ? null : html`<p class="hint" id="${field.name}-hint">${field.hint}</p>`}
${reasonsOf(field).length === 0 ? null : html`<p class="problem" id="${field.name}-problem">${sentence(reasonsOf(field))}</p>`}
${field.choices.map(
  ({ value, label, hint = null }) => html`
<label class="choice"><input type="radio" name="${field.name}" value="${value}"${value === field.value ? html` checked` : null}>
<span>${label}${hint && html` <small>${hint}</small>`}</span></label>`,
)}
</fieldset>`;

export const checkField = (name: string, label: string, isChecked: boolean, value = "true"): Html => html`
<label class="choice"><input type="checkbox" name="${name}" value="${value}"${isChecked ? html` checked` : null}>
<span>${label}</span></label>`;

/**
 * What is wrong with a form, before it. It has the focus, so that it is read out first.
 *
 * @param labels the labels of the fields, by name
 * @param general what is wrong with all of it
 */
export const problemSummary = (
  problems: ReadonlyArray<ParameterProblem>,
  labels: Readonly<Record<string, string>>,
  general: string | null,
): Html | null =>
  problems.length === 0 && general === null
    ? null
    : html`
<div class="notice bad" role="alert" tabindex="-1" autofocus>
<p>${general ?? "Nothing was saved: some fields need another value."}</p>
${
  problems.length === 0
    ? null
    : html`<ul>${problems.map(({ name, reason }) => html`<li><a href="#${name}">${labels[name] ?? name}</a>: ${reason}</li>`)}</ul>`
}
</div>`;
