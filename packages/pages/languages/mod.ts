/** The languages of the pages for users: messages by key, and the language of a reader. @internal */
export { bold, code, Language, type MessageKey, type OwnMessages, own } from "./language.ts";
export { type LanguageTag, languageTags } from "./languages.ts";
export { ownMessageFaults } from "./message_faults.ts";
export { Languages } from "./reader_language.ts";
