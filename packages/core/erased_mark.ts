/** Replaces the identifiers of an erased user in audit entries and events. @internal */
export const erasedMark = "[erased]";
