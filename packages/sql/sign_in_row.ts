import { ChatId } from "@accountlink/core";
import type { SignInId } from "@accountlink/core/ids";
import { UserGuild } from "@accountlink/core/platforms";
import type { SignInSite, SiteSignIn } from "@accountlink/core/sign_ins";
import { Schema } from "effect";
import { literalsOf, tableOf, textAs } from "./statements/row.ts";

const signIns = tableOf("site_sign_ins", {
  id: textAs<SignInId>(),
  site: literalsOf<SignInSite>({ dashboard: true, me: true }),
  chatId: ChatId,
  account: Schema.NullOr(Schema.String),
  guilds: Schema.NullOr(Schema.fromJsonString(Schema.Array(UserGuild))),
  createdAt: Schema.Int,
  expiresAt: Schema.Int,
});

export const signInColumns = signIns.columns;

export const rowOfSignIn = ({ guilds, ...signIn }: SiteSignIn) =>
  signIns.rowOf({ ...signIn, guilds: guilds === null ? null : JSON.stringify(guilds) });

export const readSignIns = signIns.reader((signIn): SiteSignIn => signIn);
