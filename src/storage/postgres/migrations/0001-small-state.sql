-- All data except the audit log. Rules for all tables:
--
-- * organization_id is the first column of every primary key, so that tables can be distributed by it.
-- * Moments that people read are RFC 3339 texts in UTC, as in the API. Moments that are compared are
--   milliseconds since 1970: to_timestamp(last_seen / 1000.0) shows them.
-- * Texts are compared by code point. A text with U+0000 or an unpaired surrogate is encoded, see text.ts.
-- * A change of an organization's policies, users, keys, settings or overrides locks its row first.

CREATE TABLE organizations (
  id text COLLATE "C" PRIMARY KEY,
  number bigint GENERATED ALWAYS AS IDENTITY,
  name text NOT NULL,
  created_at text NOT NULL,
  updated_at text NOT NULL,
  active_version text COLLATE "C" NOT NULL DEFAULT '',
  activated_at text,
  activated_by text
);

-- Values of the whole deployment: the secret, the copy of the catalog, the time at which a demo was seeded.
CREATE TABLE deployment (
  name text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE users (
  organization_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  -- The email in the form that is compared; unique over all organizations.
  email_key text COLLATE "C" NOT NULL UNIQUE,
  is_active_admin boolean NOT NULL,
  -- The whole user, as JSON.
  document text NOT NULL,
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX users_by_id ON users (id);

CREATE TABLE api_keys (
  organization_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  -- SHA-256 of the key; the key itself is never stored.
  hash text COLLATE "C" NOT NULL,
  revoked boolean NOT NULL,
  last_used_at bigint,
  -- The record of the key at its creation, as JSON.
  document text NOT NULL,
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX api_keys_by_hash ON api_keys (hash);

CREATE TABLE settings (
  organization_id text COLLATE "C" NOT NULL,
  place integer NOT NULL,
  key text NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (organization_id, place)
);

CREATE TABLE provider_overrides (
  organization_id text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  status text NOT NULL,
  PRIMARY KEY (organization_id, provider)
);

CREATE TABLE policy_versions (
  organization_id text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  -- The version's number in the order of publishing, from 1 on.
  number bigint NOT NULL,
  name text NOT NULL,
  description text,
  updated_by text NOT NULL,
  updated_at text NOT NULL,
  yaml text NOT NULL,
  sha256 text NOT NULL,
  bytes integer NOT NULL,
  -- The time and the author of its last activation after its publish.
  activated_at text,
  activated_by text,
  PRIMARY KEY (organization_id, version),
  UNIQUE (organization_id, number)
);

CREATE TABLE runtimes (
  organization_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  hostname text,
  os text,
  version text,
  policy_version text COLLATE "C",
  last_seen bigint NOT NULL,
  -- The number of its last report, which orders runtimes that were seen in the same millisecond.
  report bigint NOT NULL,
  -- Name, host, system, version and policy version in lower case, with a separator between them.
  search text COLLATE "C" NOT NULL,
  PRIMARY KEY (organization_id, name)
);
CREATE INDEX runtimes_by_last_seen ON runtimes (organization_id, last_seen, report);

-- One row for each organization, which a group of reports locks: groups are stored one after another.
CREATE TABLE fleets (
  organization_id text COLLATE "C" PRIMARY KEY,
  last_report bigint NOT NULL,
  last_seen bigint NOT NULL,
  -- The value of last_seen before the last group of reports.
  seen_before bigint NOT NULL
);

CREATE TABLE activity (
  organization_id text COLLATE "C" NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  timestamp text COLLATE "C" NOT NULL,
  -- The entry as it is answered, as JSON.
  entry text NOT NULL,
  PRIMARY KEY (organization_id, number)
);

CREATE TABLE export_tickets (
  -- SHA-256 of the ticket; the ticket itself is never stored.
  hash text COLLATE "C" PRIMARY KEY,
  expires_at bigint NOT NULL,
  -- The grant of the ticket, encrypted by a key that is derived from the ticket.
  sealed bytea NOT NULL
);

-- Sign-ins that failed within the last minute, and those under way.
CREATE TABLE sign_in_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  network text COLLATE "C" NOT NULL,
  -- The email and the network; NULL once a later sign-in with this email has succeeded.
  pair text COLLATE "C",
  began_at bigint NOT NULL,
  failed_at bigint
);
CREATE INDEX sign_in_attempts_by_network ON sign_in_attempts (network);
CREATE INDEX sign_in_attempts_by_pair ON sign_in_attempts (pair);

-- One row for each network, which an attempt locks: attempts are counted one after another.
CREATE TABLE sign_in_networks (
  network text COLLATE "C" PRIMARY KEY,
  used_at bigint NOT NULL
);
