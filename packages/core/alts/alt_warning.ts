/** What a search for alts could not look up, as codes: answers say them in English, pages in the reader's language. */

export type AltWarning =
  | { readonly is: "unreadable_address" | "late_networks" }
  | { readonly is: "no_network"; readonly text: string }
  | { readonly is: "unknown_members"; readonly count: number };

/** Says a warning in English. @internal */
export const warningText = (warning: AltWarning): string => {
  switch (warning.is) {
    case "unreadable_address":
      return "An address is under a key that is not configured any more";
    case "late_networks":
      return "The networks of the addresses could not be looked up in time";
    case "no_network":
      return warning.text;
    case "unknown_members":
      return `The chat platform did not say whether ${warning.count} of the candidates are members of the guild. They are left out`;
  }
};
