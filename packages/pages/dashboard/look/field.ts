/** Form fields: a label, a hint and the problems of the value, all announced by screen readers with the control. */
import { groupBy } from "@accountlink/core/group_by";
import { Function } from "effect";
import { formTo, type Html, html, inPlace, type Problem, to } from "../../html.ts";
import { problemHtml } from "./reasons.ts";
import { capitalised, plain, say, separated } from "./say.ts";

export interface Field {
  readonly name: string;
  readonly label: string | Html;
  readonly hint?: string | Html;
}

export const fieldsOf =
  <Name extends string>(
    labels: Readonly<Record<Name, string | Html>>,
    values: Readonly<Record<NoInfer<Name>, string>>,
  ) =>
  (name: Name) => ({ name, label: labels[name], value: values[name] });

const around = (field: Field, control: (attributes: Html) => Html): Html => {
  const { name, label } = field;
  return html`
<div class="field">
<label for="${name}">${label}</label>
${notesOf(field)}
${control(html` id="${name}" name="${name}"${describedBy(field)}${focusOn(name)}`)}
</div>`;
};

/** Gives a field or a button the focus where the page names it, so that its reader goes on there. */
export const focusOn = (name: string): Html =>
  inPlace(({ focus }) => (focus === name ? html` autofocus` : html``));

/** The hint of a field and the problems of its value, by which `describedBy` describes the field. */
const notesOf = ({ name, hint }: Field): Html =>
  withReasons(
    name,
    (reasons) => html`${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${reasons.length > 0 && html`<p class="problem" id="${name}-problem">${sentence(reasons)}</p>`}`,
  );

/** Groups the problems of a page once: a page of rules has a problem in each of 250 conditions, and 2,500 fields. */
const problemsByField = Function.memoize((problems: ReadonlyArray<Problem>) =>
  groupBy(problems, ({ name }) => name),
);

/** Renders with the reasons for which the page was refused because of a field. */
const withReasons = (name: string, render: (reasons: ReadonlyArray<Html>) => Html): Html =>
  inPlace(({ problems }) =>
    render((problems && problemsByField(problems).get(name))?.map(problemHtml) ?? []),
  );

const sentence = (reasons: ReadonlyArray<Html>): Html =>
  capitalised(say("field.problem", { reason: separated(reasons, "; ") }));

const describedBy = ({ name, hint }: Field): Html =>
  withReasons(name, ({ length }) => {
    const ids = [...(hint === undefined ? [] : [`${name}-hint`]), ...(length > 0 ? [`${name}-problem`] : [])];
    if (ids.length === 0) return html``;
    return html` aria-describedby="${ids.join(" ")}"${length > 0 ? html` aria-invalid="true"` : null}`;
  });

export const fileField = (field: Field): Html =>
  around(field, (attributes) => html`<input type="file"${attributes} required>`);

export const textField = (
  field: Field & {
    readonly value: string;
    readonly type?: "text" | "date" | "password" | "search";
    readonly maxLength?: number;
    readonly required?: true;
    /** The text that the user must type before a script enables the submit button. */
    readonly awaited?: string;
    /** Whether a script stores the submitted value in the tab's session storage, and fills it in again. */
    readonly isKept?: true;
  },
): Html =>
  around(
    field,
    (attributes) =>
      html`<input type="${field.type ?? "text"}"${attributes} value="${field.value}" autocomplete="off" spellcheck="false"${
        field.maxLength !== undefined && html` maxlength="${field.maxLength}"`
      }${field.required === true ? html` required` : null}${field.awaited !== undefined && html` data-awaits="${field.awaited}"`}${field.isKept === true ? html` data-kept` : null}>`,
  );

export const linesField = (field: Field & { readonly value: string }): Html =>
  around(
    field,
    // HTML ignores a line feed directly after `<textarea>`, so the template adds one before the value.
    (attributes) =>
      html`<textarea${attributes} rows="2" autocomplete="off" spellcheck="false">
${field.value}</textarea>`,
  );

export interface Choice {
  readonly value: string;
  readonly label: string | Html;
  readonly hint?: string | Html;
}

export const menuField = (
  field: Field & { readonly value: string; readonly choices: ReadonlyArray<Choice> },
): Html =>
  around(
    field,
    (attributes) => html`<select${attributes}>
${field.choices.map(
  ({ value, label }) =>
    html`<option value="${value}"${value === field.value ? html` selected` : null}>${plain(label)}</option>`,
)}
</select>`,
  );

/** A field of several choices, each with its own label. */
const choicesField = (field: Field, choices: ReadonlyArray<Html>): Html => html`
<fieldset class="field" id="${field.name}"${describedBy(field)}>
<legend>${field.label}</legend>
${notesOf(field)}
${choices}
</fieldset>`;

export const radioField = (
  field: Field & { readonly value: string; readonly choices: ReadonlyArray<Choice> },
): Html =>
  choicesField(
    field,
    field.choices.map(
      ({ value, label, hint = null }) => html`
<label class="choice"><input type="radio" name="${field.name}" value="${value}"${value === field.value ? html` checked` : null}>
<span>${label}${hint && html` <small>${hint}</small>`}</span></label>`,
    ),
  );

/** Several boxes to tick, whose field has a value for each ticked one. */
export const checksField = (
  field: Field & { readonly values: ReadonlyArray<string>; readonly choices: ReadonlyArray<Choice> },
): Html =>
  choicesField(
    field,
    field.choices.map(({ value, label }) =>
      checkField(field.name, label, field.values.includes(value), value),
    ),
  );

export const checkField = (
  name: string,
  label: string | Html,
  isChecked: boolean,
  value = "true",
): Html => html`
<label class="choice"><input type="checkbox" name="${name}" value="${value}"${isChecked ? html` checked` : null}>
<span>${label}</span></label>`;

/** Makes a form in a panel, like `formTo`. */
export const panelTo = (action: string, values: Parameters<typeof formTo>[1] = {}): typeof html =>
  formTo(action, values, html` class="panel"`);

/** Makes a form in a panel for what cannot be taken back. */
export const dangerTo = (action: string): typeof html => formTo(action, {}, html` class="panel danger"`);

/** Makes a form that chooses what a page shows, from a template of its fields. @param button the label of its button */
export const filtersOf =
  (path: string, button: string | Html, role: "search" | null = null): typeof html =>
  (...fields) =>
    html`
<form method="get" action="${to(path)}" class="filters"${role && html` role="${role}"`}>
${html(...fields)}
<button class="button quiet">${button}</button>
</form>`;

/**
 * The buttons of a question: the one that says yes, and the way back. The way back takes the place of a question that
 * answers a form in the browser's history, because Back and a reload would need the form again.
 */
export const buttonsOr = (yes: Html, back: string, no: string | Html = say("link.cancel")): Html => html`
<p class="row"${inPlace(({ isPosted }) => (isPosted ? html` data-leaves-for="${to(back)}"` : html``))}>${yes} <a class="button quiet" href="${to(back)}">${no}</a></p>`;
