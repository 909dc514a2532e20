/** Rows of `site_sign_ins`. */
import { ChatId } from "@accountlink/core";
import type { SignInId } from "@accountlink/core/ids";
import { UserGuild } from "@accountlink/core/platforms";
import type { SignInSite, SiteSignIn } from "@accountlink/core/sign_ins";
import { Schema } from "effect";
import { literalsOf, schemaReaderOf } from "../statements/row.ts";

const SignInRow = Schema.Struct({
  id: Schema.String,
  site: literalsOf<SignInSite>({ dashboard: true, me: true }),
  chat_id: ChatId,
  guilds: Schema.NullOr(Schema.fromJsonString(Schema.Array(UserGuild))),
  created_at: Schema.Int,
  expires_at: Schema.Int,
});

/** The columns of `readSignIns`. */
export const signInColumns = Object.keys(SignInRow.fields).join(", ");

export const rowOfSignIn = (signIn: SiteSignIn) => ({
  id: signIn.id,
  site: signIn.site,
  chat_id: signIn.chatId,
  guilds: signIn.guilds === null ? null : JSON.stringify(signIn.guilds),
  created_at: signIn.createdAt,
  expires_at: signIn.expiresAt,
});

export const readSignIns = schemaReaderOf(
  "site_sign_ins",
  SignInRow,
  (row): SiteSignIn => ({
    id: row.id as SignInId,
    site: row.site,
    chatId: row.chat_id,
    guilds: row.guilds,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }),
);
