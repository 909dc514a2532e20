/** The languages of the pages for users: messages by key, and the language of a reader. @internal */
export {
  code,
  type DashboardMessages,
  Language,
  type MessageKey,
  type OwnMessages,
  own,
  type ValuesOf,
} from "./language.ts";
export {
  dashboardFiles,
  dashboardTags,
  type LanguageTag,
  languages,
  languageTags,
  offeredShare,
} from "./languages.ts";
export { faultsOf, ownMessageFaults } from "./message_faults.ts";
export { limitOf } from "./message_limits.ts";
export { Languages } from "./reader_language.ts";
