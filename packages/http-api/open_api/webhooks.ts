/** The webhooks of the OpenAPI document: one operation for each type of event. */
import { GuildId, Pid } from "@accountlink/core/ids";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { Event, eventName } from "../v2/events.ts";
import type { Components } from "./components.ts";
import type { Operation, Parameter } from "./document.ts";

const Scope = Schema.Struct({ pid: Pid, guildId: Schema.NullOr(GuildId) }).annotate({
  identifier: "WebhookScope",
  description: "The scope of the event; without a guild, the global scope",
});

const headers: ReadonlyArray<readonly [name: string, description: string]> = [
  ["webhook-id", "Id of the event, the same in every attempt: skip what you have seen"],
  ["webhook-timestamp", "When the request was signed, in seconds since the Unix epoch"],
  [
    "webhook-signature",
    "`v1,` and an HMAC-SHA-256 in base64, as Standard Webhooks 1.0 says; several, separated by spaces, during a rotation",
  ],
];

const operationOf = (components: Components, type: string, data: Schema.Top): Operation => {
  const name = eventName(type);
  const body = Schema.Struct({ type: Schema.Literal(type), timestamp: IsoTime, data, scope: Scope });
  const schema = components.schema(body.annotate({ identifier: `${name}Webhook` }));
  return {
    operationId: `receive${name}`,
    tags: ["Webhooks"],
    summary: type === "test" ? "A test event that an owner sends" : `The event \`${type}\``,
    description:
      "Sent to the URL of a webhook at least once. Events of one chat user are sent in the order of the feed.",
    parameters: headers.map(([header, description]) => {
      const parameter: Parameter = {
        name: header,
        in: "header",
        description,
        required: true,
        schema: { type: "string" },
      };
      return components.parameter(parameter) ?? parameter;
    }),
    requestBody: { required: true, content: { "application/json": { schema } } },
    security: [],
    responses: {
      "2XX": { description: "The event is delivered; the response body is ignored" },
      410: { description: "The webhook is disabled" },
      default: { description: "The event is sent again later" },
    },
  };
};

export const webhooks = (components: Components): Readonly<Record<string, { readonly post: Operation }>> => {
  const sent = Event.members.map(({ fields: { type, data } }): readonly [string, Schema.Top] => [
    type.literal,
    data,
  ]);
  return Object.fromEntries(
    [...sent, ["test", Schema.Struct({})] as const].map(([type, data]) => [
      type,
      { post: operationOf(components, type, data) },
    ]),
  );
};
