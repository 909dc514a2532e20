/** The HTTP contract as values. Works in browsers. */
export * as BloxlinkV3 from "./compat/bloxlink_v3.ts";
export * as BloxlinkV4 from "./compat/bloxlink_v4.ts";
export * from "./compat/compat_routes.ts";
export * as Rover from "./compat/rover.ts";
export * as Rowifi from "./compat/rowifi.ts";
export * as DashboardAccount from "./dashboard/account.ts";
export * as DashboardActivity from "./dashboard/activity.ts";
export * as DashboardAlts from "./dashboard/alts.ts";
export * as DashboardBlocks from "./dashboard/blocks.ts";
export * as DashboardChannels from "./dashboard/channels.ts";
export * as DashboardCommunities from "./dashboard/communities.ts";
export * from "./dashboard/dashboard_routes.ts";
export * as DashboardKeys from "./dashboard/keys.ts";
export * as DashboardMembers from "./dashboard/members.ts";
export * as DashboardRoles from "./dashboard/roles.ts";
export * as DashboardWebhooks from "./dashboard/webhooks.ts";
export { dashboardReasons, type Reason, reasonAdvice } from "./error_details.ts";
export * from "./errors.ts";
export { errorExample, errorExampleV1 } from "./open_api/examples.ts";
export { openApi } from "./open_api/open_api.ts";
export type { Credential, OtherRefusal, OtherService } from "./other_service.ts";
export {
  flag,
  kindOf,
  optional,
  type Parameter,
  type ParameterSource,
  type Parameters,
  type ParameterValues,
  type Presence,
  parameterCodec,
  premiumFlag,
  type RawValues,
  text,
} from "./parameter.ts";
export * from "./route.ts";
export * from "./routes.ts";
export { Session, SessionEvents } from "./session.ts";
export * as AltsV1 from "./v1/alts.ts";
export * as EnvelopeV1 from "./v1/envelope.ts";
export * as LinksV1 from "./v1/links.ts";
export * as SessionsV1 from "./v1/sessions.ts";
export * as AltsV2 from "./v2/alts.ts";
export * as EnvelopeV2 from "./v2/envelope.ts";
export * as EventsV2 from "./v2/events.ts";
export * as KeysV2 from "./v2/keys.ts";
export * as LookupsV2 from "./v2/lookups.ts";
export * as MembersV2 from "./v2/members.ts";
export * as SessionsV2 from "./v2/sessions.ts";
export * as WritesV2 from "./v2/writes.ts";
