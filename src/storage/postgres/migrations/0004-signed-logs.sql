-- The trees over the logs of organizations, and their signed checkpoints: see docs/proof.md. Nothing is written here
-- while events are stored. A server, one at a time, follows the stored rows of a log. A writer locks the row
-- of its log in log_trees first. `log` is 'audit' or 'activity'; a row of a log is audit_events.seq or
-- activity.number. The key that signs is the row 'log_key' of the table deployment.

CREATE TABLE log_trees (
  organization_id text COLLATE "C" NOT NULL,
  log text COLLATE "C" NOT NULL,
  size         bigint NOT NULL DEFAULT 0,         -- the number of rows of the log that are in the tree
  last_row     bigint NOT NULL DEFAULT 0,         -- up to this row the log is in the tree
  removed_row  bigint NOT NULL DEFAULT 0,         -- up to this row retention has removed rows of the log
  requested_ms bigint NOT NULL DEFAULT 0,         -- when the log was last signed for a request
  contradiction text,                             -- why the log is no longer signed; NULL while it is
  PRIMARY KEY (organization_id, log)
);
CREATE INDEX log_trees_contradicted ON log_trees (organization_id) WHERE contradiction IS NOT NULL;

-- The leaf of each row: from an entry up to the next one, rows and leaves rise together. Leaves are counted from 0.
CREATE TABLE log_runs (
  organization_id text COLLATE "C" NOT NULL,
  log text COLLATE "C" NOT NULL,
  first_row  bigint NOT NULL,
  first_leaf bigint NOT NULL,
  PRIMARY KEY (organization_id, log, first_row)
);

-- The hashes of the trees, up to 256 of 32 bytes in an entry; level 0 has the leaves. They stay when retention
-- removes events.
CREATE TABLE log_tiles (
  organization_id text COLLATE "C" NOT NULL,
  log text COLLATE "C" NOT NULL,
  level  integer NOT NULL,
  tile   bigint NOT NULL,
  hashes bytea NOT NULL,
  PRIMARY KEY (organization_id, log, level, tile)
);
ALTER TABLE log_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL; -- hashes cannot be compressed

-- Every signed checkpoint of a tree, in the order of signing.
CREATE TABLE log_checkpoints (
  organization_id text COLLATE "C" NOT NULL,
  log text COLLATE "C" NOT NULL,
  number    bigint NOT NULL,
  signed_at timestamptz NOT NULL DEFAULT now(),
  note      text NOT NULL,
  PRIMARY KEY (organization_id, log, number)
);
