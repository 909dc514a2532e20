/** Replaces the identifiers of an erased user in audit entries and events. */
export const erasedMark = "[erased]";
