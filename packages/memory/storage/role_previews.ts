/** The previews of role plans: at most one for each plan. */
import type { ChatId } from "@accountlink/core";
import {
  arePreviewedAs,
  type PlanPlace,
  type PutPlan,
  previewTime,
  type SavePreview,
} from "@accountlink/core/roles";
import { Option } from "effect";
import type { Memory } from "./state.ts";

export const nameOf = ({ pid, guildId }: PlanPlace): string => `${pid} ${guildId}`;

export const previewsOf = (memory: Memory) => {
  const { rolePreviews: previews } = memory;
  return {
    startPreview: ({ preview, at, ...place }: SavePreview): void => {
      memory.linksOf(place.pid);
      for (const [name, { savedAt }] of previews) if (savedAt <= at - previewTime) previews.delete(name);
      previews.set(nameOf(place), { preview, savedAt: at, confirmedAt: null });
    },

    savePreview: ({ preview, at, ...place }: SavePreview): boolean => {
      const stored = previews.get(nameOf(place));
      if (stored?.preview.id !== preview.id) return false;
      previews.set(nameOf(place), { ...stored, preview, savedAt: at });
      return true;
    },

    findPreview: (place: PlanPlace) => Option.fromUndefinedOr(previews.get(nameOf(place))),

    /** Remembers that a plan is on with the settings of its preview. */
    confirmPreview: ({ settings, at, ...place }: PutPlan): void => {
      const stored = previews.get(nameOf(place));
      const isOfPlan = stored?.preview.state === "done" && arePreviewedAs(stored.preview.settings, settings);
      if (settings.state === "on" && isOfPlan) previews.set(nameOf(place), { ...stored, confirmedAt: at });
    },

    forgetPreview: (place: PlanPlace): void => void previews.delete(nameOf(place)),
  };
};

/** Deletes the previews that name a chat user. */
export const forgetPreviewsOf = ({ rolePreviews }: Memory, chatId: ChatId): void => {
  for (const [name, { preview }] of rolePreviews) {
    if (JSON.stringify(preview).includes(`"${chatId}"`)) rolePreviews.delete(name);
  }
};
