import type { OpenRollout } from "../../core/assignment.ts";
import { setNewest } from "../../core/set-newest.ts";
import { validate } from "../../core/validate.ts";
import { rollout as rolloutSchema, type Rollout } from "../../rollouts/schema.ts";
import { expectedOf, isOpen, openRolloutOf } from "../../rollouts/state.ts";
import {
  KEPT_LENGTH,
  KEPT_ROLLOUTS,
  refuseSecond,
  type RolloutStore,
} from "../../rollouts/store.ts";
import { CoalescedReads } from "./coalesced.ts";
import type { Statements } from "./database.ts";
import { changeOf, type Session } from "./session.ts";
import { fromText, toText } from "./text.ts";

/** The most open rollouts that are cached. */
const KEPT_OPEN = 1_000;

/** A stored rollout. */
interface Row {
  readonly id: string;
  readonly document: string;
}

type Head = { readonly organization: string; readonly active: string } & (
  | Row
  | { readonly id: null; readonly document: null }
);

interface Opened {
  readonly document: string;
  readonly base: string;
  readonly rollout: OpenRollout | undefined;
}

/** Caches open rollouts as assignments need them, so that the same rollout is always the same object. */
export class KnownRollouts {
  readonly #opened = new Map<string, Opened>();

  /** @throws Error naming the rollout and the way out if it is damaged */
  of(organization: string, row: Row): Opened {
    const { document } = row;
    const known = this.#opened.get(organization);
    if (known?.document === document) return known;
    const rollout = rolloutIn(organization, row);
    const opened = { document, base: rollout.base_version, rollout: openRolloutOf(rollout) };
    setNewest(this.#opened, organization, opened, KEPT_OPEN);
    return opened;
  }
}

/** Keeps rollouts in the table `rollouts`. */
export function rolloutsOver(session: Session, known: KnownRollouts): RolloutStore {
  const heads = new CoalescedReads(async (organizations) => {
    const found = await session.query<Head>(
      `SELECT o.id AS organization, o.active_version AS active, r.id, r.document
         FROM organizations o LEFT JOIN rollouts r ON r.organization_id = o.id AND r.is_open
        WHERE o.id = ANY($1)`,
      [organizations],
      "rollout-heads",
    );
    return new Map(found.map((head) => [head.organization, head]));
  });
  return {
    async expected(organization) {
      const head = await heads.get(organization);
      const active = fromText(head?.active ?? "");
      if (!head || head.document === null) return { active };
      const { base, rollout } = known.of(organization, head);
      return expectedOf(active, base, rollout);
    },

    create: (organization, rollout) =>
      changeOf(session, organization, async (transaction) => {
        const [newest] = await read(transaction, organization, "ORDER BY number DESC LIMIT 1");
        refuseSecond(newest);
        await insert(transaction, organization, rollout);
        await transaction.run(
          `DELETE FROM rollouts WHERE organization_id = $1 AND number <=
             (SELECT max(number) FROM
               (SELECT number, count(*) OVER newer AS rollouts, sum(length(document)) OVER newer AS characters
                FROM rollouts WHERE organization_id = $1 WINDOW newer AS (ORDER BY number DESC)) AS own
              WHERE rollouts > ${KEPT_ROLLOUTS} OR characters > ${KEPT_LENGTH})`,
          [organization],
        );
      }),

    update: (organization, id, change) =>
      changeOf(session, organization, async (transaction) => {
        const [before] = await read(transaction, organization, "AND id = $2", [toText(id)]);
        if (before === undefined) return undefined;
        const after = await change(before);
        await transaction.run(
          "UPDATE rollouts SET is_open = $3, document = $4 WHERE organization_id = $1 AND id = $2",
          [organization, id, isOpen(after), JSON.stringify(after)],
        );
        if (!isOpen(after)) {
          await transaction.run("DELETE FROM rollout_fetches WHERE organization_id = $1", [
            organization,
          ]);
        }
        return after;
      }),

    async get(organization, id) {
      return (await read(session, organization, "AND id = $2", [toText(id)]))[0];
    },

    list: (organization) => read(session, organization, "ORDER BY number DESC"),

    async open() {
      const rows = await session.query<{ organization: string; document: string }>(
        "SELECT organization_id AS organization, document FROM rollouts WHERE is_open",
      );
      // Not validated: a damaged rollout of one organization must not hold up those of the others.
      return rows.map(({ organization, document }) => {
        return { organization, rollout: JSON.parse(document) as Rollout };
      });
    },

    async fetched(organization, id) {
      const rows = await session.query<{ runtime: string }>(
        "SELECT runtime FROM rollout_fetches WHERE organization_id = $1 AND rollout_id = $2",
        [organization, id],
      );
      return new Set(rows.map(({ runtime }) => fromText(runtime)));
    },

    addFetched: (organization, id, runtimes) =>
      session.change(async (transaction) => {
        await transaction.run(
          `INSERT INTO rollout_fetches (organization_id, rollout_id, runtime)
           SELECT $1, $2, name FROM unnest($3::text[]) AS fetched (name)
            WHERE EXISTS (SELECT FROM rollouts
                           WHERE organization_id = $1 AND id = $2 AND is_open FOR SHARE)
           ON CONFLICT DO NOTHING`,
          [organization, id, runtimes.map(toText)],
        );
      }),

    restore: (organization, rollouts) =>
      session.change(async (transaction) => {
        await transaction.run("DELETE FROM rollouts WHERE organization_id = $1", [organization]);
        for (const rollout of rollouts) await insert(transaction, organization, rollout);
      }),
  };
}

async function insert(
  transaction: Statements,
  organization: string,
  rollout: Rollout,
): Promise<void> {
  await transaction.run(
    "INSERT INTO rollouts (organization_id, id, is_open, document) VALUES ($1, $2, $3, $4)",
    [organization, rollout.id, isOpen(rollout), JSON.stringify(rollout)],
  );
}

async function read(
  statements: Pick<Statements, "query">,
  organization: string,
  rest: string,
  values: readonly unknown[] = [],
): Promise<readonly Rollout[]> {
  const rows = await statements.query<Row>(
    `SELECT id, document FROM rollouts WHERE organization_id = $1 ${rest}`,
    [organization, ...values],
  );
  return rows.map((row) => rolloutIn(organization, row));
}

/**
 * Reads a stored rollout.
 *
 * @throws Error naming the rollout and the way out if it is damaged
 */
function rolloutIn(organization: string, { id, document }: Row): Rollout {
  try {
    return validate(rolloutSchema, JSON.parse(document));
  } catch (error) {
    const fault = (error as Error).message;
    throw new Error(
      `Rollout "${id}" of "${organization}" in the table rollouts is damaged (${fault}): restore the database from a backup, or delete the row`,
      { cause: error },
    );
  }
}
