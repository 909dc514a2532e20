/** The platforms' own OpenAPI documents: Discord's and Roblox's beside the checkout, and further parts of both here. */
import { existsSync, readFileSync } from "node:fs";

export type Platform = "discord" | "roblox";

/** A JSON Schema of the kinds that the documents have. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | ReadonlyArray<string>;
  readonly const?: unknown;
  readonly enum?: ReadonlyArray<unknown>;
  readonly oneOf?: ReadonlyArray<Schema>;
  readonly anyOf?: ReadonlyArray<Schema>;
  readonly allOf?: ReadonlyArray<Schema>;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: ReadonlyArray<string>;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Content {
  readonly content?: { readonly "application/json"?: { readonly schema: Schema } };
}

interface DocumentOperation {
  readonly parameters?: ReadonlyArray<Parameter>;
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content>>;
  readonly servers?: ReadonlyArray<{ readonly url: string }>;
}

type Methods = "get" | "post" | "put" | "patch" | "delete";

type PathItem = Partial<Record<Methods, DocumentOperation>> & {
  readonly parameters?: ReadonlyArray<Parameter>;
};

interface Document {
  readonly servers: ReadonlyArray<{ readonly url: string }>;
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Operation {
  /** The method and the path; for Roblox, the name of the service is the first segment of the path. */
  readonly id: string;
  readonly document: Document;
  readonly path: RegExp;
  readonly parameters: ReadonlyArray<Parameter>;
  readonly body: Schema | undefined;
  readonly status: number;
  readonly answer: Schema | undefined;
}

const folder = new URL("../../../../shared/platform_specs/", import.meta.url);

/** Why requests are not checked, null if they are. */
export const missingDocuments: string | null = existsSync(folder)
  ? null
  : "the folder ../shared/platform_specs is absent";

/** Where the documents differ from what the platforms take and answer. */
const exceptions: Readonly<Record<string, (schema: Schema) => Schema>> = {
  isCircular: () => ({ type: "boolean" }),
  itemType: () => ({ enum: ["Asset", "GamePass", "Badge"] }),
  default_member_permissions: () => ({ type: ["string", "integer", "null"] }),
  nextPageCursor: (schema) => ({ oneOf: [{ type: "null" }, schema] }),
  owner: (schema) => ({ oneOf: [{ type: "null" }, schema] }),
  externalAppDisplayName: (schema) => ({ oneOf: [{ type: "null" }, schema] }),
};

/** Discord says in `format` alone that a text is a number. */
const digits: ReadonlySet<string> = new Set(["permissions", "allow", "deny"]);

const read = (url: URL): Document =>
  JSON.parse(readFileSync(url, "utf8"), function (this: { readonly name?: unknown }, key, value) {
    if (key === "schema" && typeof this.name === "string") return exceptions[this.name]?.(value) ?? value;
    if (key !== "properties") return value;
    for (const [name, schema] of Object.entries<Schema>(value)) {
      const isDigits = digits.has(name) && schema.type === "string";
      // Only Roblox lacks the nulls: Discord's `owner` is a boolean, or says that it can be null.
      const isKnown = name !== "owner" || schema.$ref?.includes("GroupOwnerType");
      if (isDigits) value[name] = { type: "string", format: "snowflake" };
      else if (isKnown) value[name] = exceptions[name]?.(schema) ?? schema;
    }
    return value;
  });

const operationsOf = (document: Document, hasServices: boolean): ReadonlyArray<Operation> =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    (["get", "post", "put", "patch", "delete"] as const).flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const [server = { url: "" }] = operation.servers ?? document.servers;
      const service = hasServices ? `/${new URL(server.url).hostname.split(".")[0]}` : "";
      const [status = "200", { content } = {}] =
        Object.entries(operation.responses).find(([code]) => code.startsWith("2")) ?? [];
      return [
        {
          id: `${method.toUpperCase()} ${service}${path}`,
          document,
          path: new RegExp(`^${service}${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`),
          parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])],
          body: operation.requestBody?.content?.["application/json"]?.schema,
          status: Number(status),
          answer: content?.["application/json"]?.schema,
        },
      ];
    }),
  );

/** The operations of a platform, those with the fewest parameters in their path first. */
const load = (platform: Platform): ReadonlyArray<Operation> => {
  const document = read(new URL(`${platform}.json`, folder));
  const operations =
    platform === "discord"
      ? [
          ...operationsOf(document, false),
          ...operationsOf(read(new URL("discord_channels.json", import.meta.url)), false),
        ]
      : [
          ...operationsOf(document, true),
          ...operationsOf(read(new URL("open_cloud.json", import.meta.url)), true),
        ];
  const placeholders = ({ id }: Operation) => id.split("{").length;
  return operations.toSorted((one, other) => placeholders(one) - placeholders(other));
};

const loaded = new Map<Platform, ReadonlyArray<Operation>>();

export const operationsOn = (platform: Platform): ReadonlyArray<Operation> => {
  const known = loaded.get(platform) ?? load(platform);
  loaded.set(platform, known);
  return known;
};
