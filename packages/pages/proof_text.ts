import type { LinkProof } from "@accountlink/core/links";
import type { Language } from "./languages/language.ts";

/** Says how a link was last confirmed; null if that is unknown. */
export const proofText = (
  proof: LinkProof,
  language: Language,
  platforms: { readonly chatName: string; readonly gameName: string },
): string | null => (proof === null ? null : language.text(`proof.${proof}`, platforms));

/** Whether the owner of the accounts confirmed the link, as far as it is known. */
export const isByOwner = (proof: LinkProof): boolean => proof !== "hand" && proof !== "import";
