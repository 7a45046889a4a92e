import { LOOSE_VALUE, type RedactionRule, sample as x, valueAt } from "./shapes.ts";
import { isSecretValue } from "./values.ts";

/** Tokens and passwords in URLs: before the host, and in a path or query. */
export const URL_RULES: readonly RedactionRule[] = [
  {
    id: "url-token",
    keywords: ["://"],
    isBeforeAt: true,
    // A token in place of the user stands before an empty password or a fixed word. Names of users stay: they are
    // shorter, end in their digits (`AdaKing1815`), or have no digits and no two capitals together.
    pattern:
      /:\/\/(?<secret>(?:(?=[A-Za-z_-]{0,100}\d)[A-Za-z0-9_-]{20,512}|(?=[A-Za-z]{0,20}\d{1,20}[A-Za-z])(?=[a-z\d]{0,20}[A-Z])(?=[A-Z\d]{0,20}[a-z])[A-Za-z0-9]{12,19}|(?=[A-Z]{0,500}[a-z])(?=[A-Za-z]{0,500}?[A-Z]{2})[A-Za-z]{20,512}|[A-Za-z]{32,512})(?=:?@)|[\w-]{8,512}(?=:x-oauth-basic@))/y,
    matches: [
      `git clone https://${x(40)}@example.com/x`,
      `git push https://${x(12)}:x-oauth-basic@example.com/x`,
      `curl https://${x(24)}:@example.com`,
      `git clone https://${x(14)}@example.com/x`,
      `git clone https://${x(24, "qWErTyuIoP")}@example.com/x`,
    ],
    ignores: [
      "https://ada@example.com",
      "ssh://git@example.com/x",
      "https://ada:@example.com",
      "https://AdaKingLovelace1815@example.com",
      "https://x-access-token@example.com",
      "https://deploy-user-2024@example.com",
    ],
  },
  {
    id: "url-password",
    keywords: ["://"],
    isBeforeAt: true,
    pattern:
      /:\/\/[^\s/:@"'<>[\\]{0,128}:(?<secret>(?!\d{1,5}(?:[/?#\s"']|$))(?:[^\s/?"'<>\\]{1,2048}|[^\s@"'<>\\]{1,2048}))(?=@)/y,
    accepts: isSecretValue,
    matches: [
      "git clone https://ada:hunter2@example.com/x",
      "psql postgres://u:p4ss@db/x",
      "redis-cli -u redis://:hunter2@cache:6379",
      "postgres://u:a/b@db/x",
    ],
    ignores: [
      "https://example.com/a:b@c",
      "https://$USER:$PASS@example.com",
      "http://host:80/x",
      "http://host:80/~ada@x",
      "http://[::1]:80/ada@x",
    ],
  },
  {
    // The last part of the address at which these services take a stream.
    id: "stream-key",
    keywords: ["rtmp://", "rtmps://"],
    pattern:
      /rtmps?:\/\/(?:[\w.-]{1,60}\.(?:youtube|twitch|contribute\.live-video)\.(?:com|tv|net)|live-api-s\.facebook\.com)(?::\d{1,5})?\/(?:live2|app|rtmp)\/(?<secret>[\w?=&-]{8,256})/iy,
    matches: [
      "ffmpeg -i x -f flv rtmp://a.rtmp.youtube.com/live2/ab1c-de2f-gh3i",
      `ffmpeg -i x -f flv rtmps://live-api-s.facebook.com:443/rtmp/FB-${x(20)}`,
    ],
    ignores: [
      "ffmpeg -i x -f flv rtmp://a.rtmp.youtube.com/live2/$KEY",
      "ffmpeg -i rtmp://127.0.0.1/live/camera1 x.mp4",
    ],
  },
  valueAt(
    "query-key",
    ["?key=", "&key=", "?auth=", "&auth="],
    "[?&](?:key|auth)=",
    [`https://example.com/v1?key=${x(20)}`],
    ["https://example.com/v1?key=$KEY", "https://example.com/v1?key=name&sort=asc"],
    LOOSE_VALUE,
  ),
];
