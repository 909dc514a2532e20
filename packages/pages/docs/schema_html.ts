/** Shows JSON schemas of an OpenAPI document as nested lists of fields. */
import type { openApi } from "@accountlink/http-api";
import { Html, html } from "../html.ts";

export type Document = ReturnType<typeof openApi>;

/** The parts of JSON Schema that the document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | ReadonlyArray<string>;
  readonly enum?: ReadonlyArray<unknown>;
  readonly anyOf?: ReadonlyArray<Schema>;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: ReadonlyArray<string>;
  readonly description?: string;
}

/** Follows a reference of the document; returns any other value unchanged. */
export const resolved = <A extends object>(document: Document, value: A | { readonly $ref: string }): A => {
  if (!("$ref" in value)) return value;
  const [kind = "", name = ""] = value.$ref.split("/").slice(2);
  const found = document.components[kind]?.[name];
  if (found === undefined) throw new Error(`Cannot show ${value.$ref}: the document does not have it`);
  // A field may have a description of its own beside the reference.
  return { ...(found as A), ...("description" in value ? { description: value.description } : {}) };
};

export const proseHtml = (text: string): Html =>
  html`${text.split("`").map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;

/** Names the type of a schema, such as `string or null`. */
export const typeText = (document: Document, schema: Schema): string => {
  const { type, enum: values, anyOf, items } = resolved<Schema>(document, schema);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" or ");
  if (anyOf !== undefined) return [...new Set(anyOf.map((one) => typeText(document, one)))].join(" or ");
  if (items !== undefined) return `list of ${typeText(document, items)}`;
  return (typeof type === "string" ? type : type?.join(" or ")) ?? "any value";
};

/** Lists the fields of a schema, and the fields below them; null if the schema has none. */
export const fieldsHtml = (document: Document, schema: Schema, depth = 0): Html | null => {
  const { properties, required = [], items, anyOf = [] } = resolved<Schema>(document, schema);
  if (depth > deepest) return null;
  if (properties === undefined) {
    const below = [...anyOf, ...(items === undefined ? [] : [items])]
      .map((one) => fieldsHtml(document, one, depth))
      .filter((one) => one !== null);
    return below.length === 0 ? null : html`${below}`;
  }
  return html`<ul>${Object.entries(properties).map(([name, property]) => {
    const { description } = resolved<Schema>(document, property);
    return html`<li><code>${name}</code> <small>${typeText(document, property)}${required.includes(name) ? null : ", optional"}</small>${
      description !== undefined && html` ${proseHtml(description)}`
    }${fieldsHtml(document, property, depth + 1)}</li>`;
  })}</ul>`;
};

/** Fields below this depth are left out; the example of each answer shows them. */
const deepest = 4;

export const jsonHtml = (value: unknown): Html => html`<pre>${JSON.stringify(value, null, 2)}</pre>`;
