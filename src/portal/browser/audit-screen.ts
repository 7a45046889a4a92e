import type { AuditEvent } from "../../audit/schema.ts";
import { missedBy, withArrivals, withOlder } from "../pages/audit-arrivals.ts";
import { auditEventPanel } from "../pages/audit-event.ts";
import { auditRows } from "../pages/audit-rows.ts";
import { documentTitle } from "../format.ts";
import { auditTitle, freshness, renderAudit, liveButton } from "../pages/audit.ts";
import {
  isAhead,
  PAGE_EVENTS,
  readAudit,
  readChart,
  readEvent,
  type AuditModel,
  type OpenEvent,
  type TailState,
} from "../pages/audit-source.ts";
import { AHEAD_MS, listOf, queryOf, readView, type AuditView } from "../pages/audit-view.ts";
import { isSignedOut, pageSource, reasonOf } from "./api.ts";
import { chosenColumns } from "./audit-columns.ts";
import { fillForm } from "./audit-form.ts";
import { appendRows, setBusy, showFreshness, showPanel, showTailButton } from "./audit-pieces.ts";
import { pageContext, show } from "./live.ts";
import { learnRole } from "./role.ts";
import { Retry } from "./retry.ts";
import { toast } from "./toast.ts";

const MOST_ARRIVED = 200;
/** A list that the live tail made longer is read again. */
const MOST_SHOWN = 10 * PAGE_EVENTS;
const CHART_EVERY_MS = 5_000;

/** The state of the audit page. Only this class changes what the page shows. */
export class AuditScreen {
  #model: AuditModel | undefined;
  #view: AuditView = {};
  #underWay: AbortController | undefined;
  readonly #isReading: () => boolean;
  readonly #onRead: () => void;
  #arrived: AuditEvent[] = [];
  /** Events that arrived since the load in progress began: its list may lack them. */
  #meanwhile: AuditEvent[] | undefined;
  #tail: TailState = { state: "off" };
  #chartAt = 0;
  #chartTimer: ReturnType<typeof setTimeout> | undefined;
  /** The view of the shown list, as `listOf` names it. */
  #shownList = "";
  readonly #retry = new Retry();

  /**
   * @param isReading whether the reader looks or points at the rows, which must not move then
   * @param onRead called when the list or its chart was read again
   */
  constructor(isReading: () => boolean, onRead: () => void) {
    this.#isReading = isReading;
    this.#onRead = onRead;
  }

  /** The view that is shown or being loaded. */
  get view(): AuditView {
    return this.#view;
  }

  /** Whether a list is shown, rendered by the server or by this class. */
  get hasList(): boolean {
    return document.getElementById("audit-rows") !== null;
  }

  /** Takes over a page that the server rendered, without reading its data again. */
  adopt(view: AuditView): void {
    this.#view = view;
    this.#shownList = listOf(view);
  }

  /** Whether the list of a view is shown, and no other one is being loaded that would replace it. */
  shows(view: AuditView): boolean {
    const list = listOf(view);
    return this.hasList && this.#shownList === list && listOf(this.#view) === list;
  }

  /** Reads a view and shows it, the list before the chart. Aborts a load in progress. */
  async load(view: AuditView): Promise<void> {
    this.#view = view;
    this.#underWay?.abort();
    this.#retry.stop();
    const own = new AbortController();
    this.#underWay = own;
    this.#meanwhile = [];
    setBusy(true);
    let isListShown = false;
    const showList = (model: AuditModel): void => {
      // An event beside the list would change the list's width when it comes.
      isListShown = view.event === undefined;
      if (!own.signal.aborted && isListShown)
        this.#showLoaded({ ...model, keepsChart: true }, view);
    };
    try {
      const source = pageSource(own.signal);
      await learnRole(own.signal);
      const model = await readAudit(source, pageContext(), view, showList);
      if (own.signal.aborted) return;
      if (isListShown) this.#complete(model);
      else this.#showLoaded(model, view);
      this.#retry.succeeded();
    } catch (error) {
      if (own.signal.aborted || isSignedOut(error)) return;
      this.#failLoad(error);
    } finally {
      if (this.#underWay === own) {
        this.#underWay = undefined;
        this.#meanwhile = undefined;
        setBusy(false);
        this.#onRead();
      }
    }
  }

  /** Shows a view of the same list in which another event is open, or no event. */
  async open(view: AuditView): Promise<void> {
    const isOpen = document.getElementById("audit-event") !== null;
    const isSame = view.event === this.#view.event && isOpen === (view.event !== undefined);
    this.#view = view;
    const { event: id } = view;
    if (isSame) {
      if (this.#model) this.#model = { ...this.#model, view };
      return;
    }
    let open: OpenEvent | undefined;
    try {
      await learnRole();
      if (id !== undefined) open = await this.#read(id);
    } catch (error) {
      if (id === undefined || isSignedOut(error)) return;
      open = { id, problem: reasonOf(error), isLost: true };
    }
    if (this.#view.event !== id) return;
    if (this.#model) this.#model = { ...this.#model, view: this.#view, open };
    showPanel(auditEventPanel({ ...pageContext(), view, open }), id);
  }

  /** Shows the list again after the reader chose another form of it; reads it where the server rendered it. */
  async redraw(): Promise<void> {
    if (this.#model) this.#show(this.#model);
    else await this.load(this.#view);
  }

  /** Reads the event again that could not be loaded. */
  async reopen(): Promise<void> {
    const view = this.#view;
    const { event: _, ...rest } = view;
    this.#view = rest;
    await this.open(view);
  }

  async #read(id: string): Promise<OpenEvent> {
    const { list, open } = this.#model ?? {};
    if (open && "event" in open && open.event.id === id) return open;
    const [found, other] = list?.events.filter((event) => event.id === id) ?? [];
    // Two reporters may have used the id: then the service decides which event it names.
    return found && !other ? { event: found } : readEvent(pageSource(), id);
  }

  /** Appends the next page of the list, which the link "older" names. */
  async loadOlder(): Promise<void> {
    const link = document.getElementById("older");
    if (!(link instanceof HTMLAnchorElement) || this.#underWay) return;
    const { searchParams } = new URL(link.href);
    const next = readView((name) => searchParams.get(name));
    const query = queryOf(next, pageContext().now);
    const own = new AbortController();
    this.#underWay = own;
    try {
      const older = await pageSource(own.signal).page(query, PAGE_EVENTS, next.cursor);
      if (own.signal.aborted) return;
      if (this.#model?.list) {
        this.#model = { ...this.#model, list: withOlder(this.#model.list, older) };
      }
      const above = document.querySelectorAll("#audit-rows .row").length;
      const columns = chosenColumns();
      appendRows(auditRows({ ...pageContext(), view: this.#view, query, columns }, older, above));
    } catch (error) {
      if (!own.signal.aborted && !isSignedOut(error)) {
        toast(`Older events could not be loaded: ${reasonOf(error)}`);
      }
    } finally {
      if (this.#underWay === own) this.#underWay = undefined;
    }
  }

  /** Shows the state of the live tail. */
  showTail(tail: TailState): void {
    const isSame = tail.state === this.#tail.state && tail.note === this.#tail.note;
    // While the stream runs, the list is as fresh as its last event.
    if (this.#tail.state === "live" && this.#model) {
      this.#model = { ...this.#model, readAt: pageContext().now };
    }
    this.#tail = tail;
    if (!isSame) showTailButton(liveButton({ view: this.#view, tail }));
    this.showFreshness();
  }

  /** The service's time when the list was read, in milliseconds. */
  get readAt(): number {
    return this.#model?.readAt ?? Number(document.body.dataset["now"]);
  }

  /** Shows how old the list is. */
  showFreshness(): void {
    const { readAt } = this;
    const shown = this.hasList ? { view: this.#view, tail: this.#tail, readAt } : undefined;
    showFreshness(shown && freshness(shown, pageContext().now));
  }

  /** Adds arrived events to the list, or keeps them behind a button while the reader is in the list. */
  takeArrived(events: readonly AuditEvent[]): void {
    const { query, ahead = 0 } = this.#model ?? {};
    const { now } = pageContext();
    // The query ends now where the list leaves out events that are dated after now.
    const asked = query && queryOf(this.#view, now);
    const present = events.filter((event) => !asked || !isAhead(event, asked, now));
    if (this.#model && asked && present.length < events.length) {
      const to = new Date(now + AHEAD_MS).toISOString();
      const count = ahead + events.length - present.length;
      this.#model = { ...this.#model, query: { ...asked, to }, ahead: count };
    }
    const newest = present.slice(-MOST_ARRIVED - 1);
    this.#arrived.push(...newest);
    this.#meanwhile?.push(...newest);
    if (!this.#isReading()) return this.showArrived();
    if (this.#model) this.#show(this.#model);
  }

  /** Adds the arrived events to the list. Reads the list again when they are too many. */
  showArrived(): void {
    const [model, arrived] = [this.#model, this.#arrived];
    const length = model?.list?.events.length ?? 0;
    if (!model?.list || arrived.length > MOST_ARRIVED || length > MOST_SHOWN) {
      // A load in progress brings them. Restarting it with every event would never end it.
      if (!this.#meanwhile) void this.load(this.#view);
      return;
    }
    this.#arrived = [];
    this.#show({ ...model, list: withArrivals(model.list, arrived) });
    const wait = model.list.total === 0 ? 0 : this.#chartAt + CHART_EVERY_MS - performance.now();
    clearTimeout(this.#chartTimer);
    this.#chartTimer = setTimeout(() => void this.#refreshChart(), Math.max(0, wait));
  }

  #showLoaded(model: AuditModel, asked: AuditView): void {
    this.#arrived = model.list ? [...missedBy(model.list, this.#meanwhile ?? [])] : [];
    this.#meanwhile = undefined;
    // An event that was opened during the load stays open.
    const open = this.#view.event === asked.event ? model.open : this.#model?.open;
    this.#show({ ...model, view: this.#view, open });
    if (this.#arrived.length > 0 && !this.#isReading()) this.showArrived();
  }

  /** Adds the chart and the provider names to the list that is already shown. */
  #complete({ chart, providers }: AuditModel): void {
    if (this.#model) this.#show({ ...this.#model, keepsChart: undefined, chart, providers });
  }

  /** Shows an error, and tries again. Only a list of this very view stays. */
  #failLoad(error: unknown): void {
    const isStale = this.shows(this.#view);
    if (!isStale) this.#show({ ...pageContext(), view: this.#view, query: {} });
    const failed = isStale ? "The events could not be refreshed" : "The events could not be loaded";
    this.#retry.after(failed, error, () => void this.load(this.#view));
  }

  async #refreshChart(): Promise<void> {
    this.#chartAt = performance.now();
    const { query, list } = this.#model ?? {};
    if (!query || !list) return;
    try {
      const chart = await readChart(pageSource(), query, list, pageContext().now);
      if (this.#model?.query !== query) return;
      this.#show({ ...this.#model, chart });
      this.#onRead();
    } catch {
      // The list matters more than the chart; the next events trigger the next attempt.
    }
  }

  #show(model: AuditModel): void {
    const isOtherList = !this.shows(this.#view);
    this.#model = model;
    this.#shownList = listOf(this.#view);
    const { now } = pageContext();
    const arrived = this.#arrived.length;
    document.title = documentTitle(auditTitle(model));
    show(renderAudit({ ...model, now, columns: chosenColumns(), tail: this.#tail, arrived }));
    if (isOtherList) fillForm();
  }
}
