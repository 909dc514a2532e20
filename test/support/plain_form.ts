/** Fills in the forms of pages by the labels of their fields, and reads what a button would send. */
import { around, type Element, nameOf, within, wordsOf } from "./markup.ts";

/** What a test enters: a text, an option's words, a file, or whether a box is ticked. */
type Entry = string | boolean | File;
export type Entries = Readonly<Record<string, Entry>>;

const isControl = ({ tag }: Element) => /^(?:input|select|textarea)$/.test(tag);
const kindOf = ({ tag, attributes }: Element) => (tag === "input" ? (attributes["type"] ?? "text") : tag);
const isTickable = (control: Element) => /^(?:radio|checkbox)$/.test(kindOf(control));
const optionsOf = (select: Element) => within(select).filter(({ tag }) => tag === "option");
const optionValue = (option: Element) => option.attributes["value"] ?? wordsOf(option);
const rootOf = (element: Element) => around(element).at(-1) ?? element;

/** The form that a field or button belongs to. */
export const formAround = (control: Element): Element | undefined =>
  control.attributes["form"] === undefined
    ? around(control).find(({ tag }) => tag === "form")
    : within(rootOf(control)).find(({ attributes }) => attributes["id"] === control.attributes["form"]);

/** The names of a field: its labels, each also after the name of the field's group, such as `Rule 2: Group`. */
const namesOf = (control: Element): ReadonlyArray<string> => {
  const { id, "aria-label": own } = control.attributes;
  const labels = within(rootOf(control)).filter(
    (label) =>
      label.tag === "label" &&
      (label.attributes["for"] === undefined
        ? around(control).includes(label)
        : label.attributes["for"] === id),
  );
  const words = labels.map((label) => wordsOf(label, ({ tag }) => tag !== "select" && tag !== "textarea"));
  const names = own === undefined ? words : [own, ...words];
  const group = around(control).find(
    ({ tag, attributes }) => tag === "fieldset" || attributes["role"] === "group",
  );
  const legend = group && within(group).find(({ tag }) => tag === "legend");
  const named = group?.attributes["aria-label"] ?? (legend && wordsOf(legend));
  return named === undefined ? names : [...names, ...names.map((name) => `${named}: ${name}`)];
};

/** Finds the field with this name, or else the first field whose name contains it. */
export const fieldNamed = (name: string, parts: ReadonlyArray<Element>): Element => {
  const fields = parts.filter((part) => isControl(part) && kindOf(part) !== "hidden");
  const found =
    fields.find((field) => namesOf(field).includes(name)) ??
    fields.find((field) => namesOf(field).some((each) => each.toLowerCase().includes(name.toLowerCase())));
  if (found === undefined) {
    throw new Error(`Cannot find the field "${name}" among ${fields.flatMap(namesOf).join(", ")}`);
  }
  return found;
};

/** The value that a field has before anything is entered; undefined if it is not ticked. */
export const valueOf = (control: Element): string | undefined => {
  if (kindOf(control) === "textarea") {
    return control.children
      .filter((child) => typeof child === "string")
      .join("")
      .replace(/^\n/, "");
  }
  if (kindOf(control) === "select") {
    const options = optionsOf(control);
    const chosen = options.find(({ attributes }) => "selected" in attributes) ?? options[0];
    return chosen && optionValue(chosen);
  }
  const { value } = control.attributes;
  if (!isTickable(control)) return value ?? "";
  return "checked" in control.attributes ? (value ?? "on") : undefined;
};

/** What a field sends after this was entered; undefined if it sends nothing. */
const sentBy = (control: Element, entry: Entry): string | File | undefined => {
  if (typeof entry === "boolean") return entry ? (control.attributes["value"] ?? "on") : undefined;
  if (kindOf(control) !== "select" || typeof entry !== "string") return entry;
  const options = optionsOf(control);
  const option =
    options.find((each) => nameOf(each) === entry) ??
    options.find((each) => optionValue(each) === entry) ??
    options.find((each) => nameOf(each).startsWith(`${entry} `));
  if (option === undefined) throw new Error(`Cannot choose "${entry}": the menu has ${wordsOf(control)}`);
  return optionValue(option);
};

/** Returns what a button sends after these values were entered. */
export const fieldsOf = (button: Element, form: Element, entries: Entries): FormData => {
  const controls = within(rootOf(form)).filter((each) => isControl(each) && formAround(each) === form);
  const entered = new Map(
    Object.entries(entries).map(([name, entry]) => [fieldNamed(name, controls), entry]),
  );
  const isReplaced = ({ attributes: { name } }: Element) =>
    [...entered.keys()].some((each) => kindOf(each) === "radio" && each.attributes["name"] === name);
  const fields = new FormData();
  for (const control of controls) {
    const { name = "", disabled } = control.attributes;
    if (name === "" || disabled !== undefined) continue;
    const entry = entered.get(control);
    const sent =
      entry !== undefined ? sentBy(control, entry) : isReplaced(control) ? undefined : valueOf(control);
    if (sent !== undefined) fields.append(name, sent);
  }
  const { name = "", value = "" } = button.attributes;
  if (name !== "") fields.append(name, value);
  return fields;
};
