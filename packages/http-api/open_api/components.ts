/** Simplifies JSON Schemas without changing their meaning, so that code generators produce better types. */
import { JsonSchema, Schema } from "effect";
import type { Header, Parameter, Reference, Response } from "./document.ts";

interface Kinds {
  readonly schemas: JsonSchema.JsonSchema;
  readonly parameters: Parameter;
  readonly headers: Header;
  readonly responses: Response;
  readonly examples: { readonly value: unknown };
}

type Kind = keyof Kinds;

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Collects the components of an OpenAPI document, such as schemas and parameters. */
export class Components {
  readonly all: { readonly [K in Kind]: Record<string, Kinds[K]> } = {
    schemas: {},
    parameters: {},
    headers: {},
    responses: {},
    examples: {},
  };

  /** Adds a component, and returns a reference to it. Throws if a different component already has the name. */
  share<K extends Kind>(kind: K, name: string, value: Kinds[K]): Reference {
    const reference = this.reference(kind, name, value);
    if (reference === null) throw new Error(`Cannot share two different ${kind} as "${name}"`);
    return reference;
  }

  /**
   * Adds a parameter, and returns a reference to it; null if a different parameter already has the name. The name is
   * short, because code generators use it as the name of a type.
   */
  parameter(parameter: Parameter): Reference | null {
    return this.reference("parameters", `${parameter.name.replaceAll("-", "")}Parameter`, parameter);
  }

  /** Calls `make` for the first value of a key only, because many routes share what takes long to make. */
  once(key: string, make: () => Reference): Reference {
    const made = this.made.get(key) ?? make();
    this.made.set(key, made);
    return made;
  }

  private readonly made = new Map<string, Reference>();

  private reference<K extends Kind>(kind: K, name: string, value: Kinds[K]): Reference | null {
    const components: Record<string, Kinds[K]> = this.all[kind];
    const known = (components[name] ??= value);
    return isSame(known, value) ? { $ref: `#/components/${kind}/${name}` } : null;
  }

  /** The JSON Schema of a schema. Schemas with an identifier become shared components. */
  schema(schema: Schema.Top): JsonSchema.JsonSchema {
    const { schema: root, definitions } = Schema.toJsonSchemaDocument(schema);
    const translated = JsonSchema.toMultiDocumentOpenApi3_1({
      dialect: "draft-2020-12",
      schemas: [root],
      definitions,
    });
    for (const [name, definition] of Object.entries(translated.definitions)) {
      this.share("schemas", name, simplify(definition));
    }
    return simplify(translated.schemas[0]);
  }
}

type Json = JsonSchema.JsonSchema;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Keywords that inform readers, and do not affect which values are valid. */
const annotations = new Set(["description", "title", "examples", "default"]);
const isAnnotation = (schema: Json) => Object.keys(schema).every((keyword) => annotations.has(keyword));
const isNull = (schema: Json) => schema["type"] === "null" && Object.keys(schema).length === 1;
/**
 * Whether adding null to the `type` of a schema is enough to make the schema accept null. It is not enough if the
 * schema has a keyword such as `enum`, which could still exclude null.
 */
const isTyped = (schema: Json) =>
  typeof schema["type"] === "string" &&
  !["enum", "const", "anyOf", "allOf"].some((keyword) => keyword in schema);

/** Removes the parts of an `allOf` that contain only annotations, and adds these annotations to the schema itself. */
const withAnnotations = ({ allOf, ...schema }: Json): Json => {
  if (!Array.isArray(allOf)) return schema;
  const rest = allOf.filter((part) => !isAnnotation(part));
  const merged = Object.assign({}, ...(rest.length === 1 ? rest : []), schema, ...allOf.filter(isAnnotation));
  return rest.length > 1 ? { ...merged, allOf: rest } : merged;
};

/** Simplifies an `anyOf` that contains only one schema, or only one schema and `null`. */
const withoutChoice = ({ anyOf, ...schema }: Json): Json => {
  if (!Array.isArray(anyOf)) return schema;
  const [only, ...others] = anyOf.filter((choice) => !isNull(choice));
  if (others.length > 0 || only === undefined) return { ...schema, anyOf };
  if (anyOf.length === 1) return { ...only, ...schema };
  return isTyped(only) ? { ...only, ...schema, type: [only["type"], "null"] } : { ...schema, anyOf };
};

/** Whether a keyword says only that integers are safe, or that objects may have additional properties. */
const isImplied = (keyword: string, value: unknown, schema: Json): boolean =>
  (keyword === "minimum" && value === Number.MIN_SAFE_INTEGER) ||
  (keyword === "maximum" && value === Number.MAX_SAFE_INTEGER) ||
  (keyword === "additionalProperties" && value === true && "properties" in schema);

const simplifyAny = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(simplifyAny);
  return isObject(value) ? simplify(value) : value;
};

const simplify = (schema: Json): Json => {
  const parts = Object.entries(schema)
    .filter(([keyword, value]) => !isImplied(keyword, value, schema))
    .map(([keyword, value]) => [
      keyword,
      keyword === "properties" && isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, field]) => [name, simplifyAny(field)]))
        : simplifyAny(value),
    ]);
  return withoutChoice(withAnnotations(Object.fromEntries(parts)));
};
