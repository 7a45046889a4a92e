-- Labels of runtimes, and rollouts of policy versions.

ALTER TABLE runtimes ADD COLUMN labels jsonb;
-- The length of the labels as the quota counts it, see src/core/labels.ts.
ALTER TABLE runtimes ADD COLUMN label_length integer NOT NULL DEFAULT 0;

CREATE TABLE rollouts (
  organization_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  is_open boolean NOT NULL,
  -- The whole rollout, as JSON.
  document text NOT NULL,
  PRIMARY KEY (organization_id, id)
);
CREATE UNIQUE INDEX one_open_rollout ON rollouts (organization_id) WHERE is_open;

-- The runtimes that have fetched the version of an open rollout.
CREATE TABLE rollout_fetches (
  organization_id text COLLATE "C" NOT NULL,
  rollout_id text COLLATE "C" NOT NULL,
  runtime text COLLATE "C" NOT NULL,
  PRIMARY KEY (organization_id, rollout_id, runtime)
);
