/** Zooms to whole bars when the reader drags over the chart; a plain click follows the bar's link. */

const LEAST_PIXELS = 6;

/** Calls back with the span that was dragged over, in milliseconds. */
export function serveZoom(content: HTMLElement, zoom: (from: number, to: number) => void): void {
  let dragged = false;
  content.addEventListener("dragstart", (event) => {
    // Otherwise the browser drags the link itself.
    if (event.target instanceof Element && event.target.closest("#audit-time .plot")) {
      event.preventDefault();
    }
  });
  content.addEventListener("pointerdown", (event) => {
    dragged = false;
    const plot = event.target instanceof Element ? event.target.closest("#audit-time .plot") : null;
    if (!plot || event.button !== 0 || event.pointerType === "touch") return;
    const drag = new Drag(plot, event.clientX);
    const stop = new AbortController();
    const { signal } = stop;
    addEventListener("pointermove", ({ clientX }) => drag.moveTo(clientX), { signal });
    const end = (isWanted: boolean): void => {
      stop.abort();
      drag.remove();
      dragged = drag.isFar;
      if (isWanted && drag.isFar) zoom(...drag.span());
    };
    addEventListener("pointerup", () => end(true), { signal });
    addEventListener("pointercancel", () => end(false), { signal });
    addEventListener("keydown", ({ key }) => key === "Escape" && end(false), { signal });
  });
  content.addEventListener(
    "click",
    (event) => {
      if (!dragged) return;
      dragged = false;
      event.preventDefault();
      event.stopPropagation();
    },
    { capture: true },
  );
}

/** A drag in progress, and the rectangle that shows it. */
class Drag {
  readonly #plot: Element;
  readonly #from: number;
  #to: number;
  readonly #mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");

  constructor(plot: Element, x: number) {
    this.#plot = plot;
    this.#from = x;
    this.#to = x;
    this.#mark.setAttribute("class", "zoom");
    this.#mark.setAttribute("height", "100%");
    plot.append(this.#mark);
  }

  get isFar(): boolean {
    return Math.abs(this.#to - this.#from) >= LEAST_PIXELS;
  }

  moveTo(x: number): void {
    this.#to = x;
    if (!this.isFar) return;
    const [start, end] = this.#parts();
    this.#mark.setAttribute("x", `${100 * start}%`);
    this.#mark.setAttribute("width", `${100 * (end - start)}%`);
  }

  remove(): void {
    this.#mark.remove();
  }

  /** The moments at both ends, in milliseconds, within the time that the bars count. */
  span(): [number, number] {
    const { dataset } = this.#plot.closest<HTMLElement>("[data-start]") ?? document.body;
    const start = Number(dataset["start"]);
    const length = Number(dataset["end"]) - start;
    const [from, to] = this.#parts();
    return [
      Math.max(Math.round(start + from * length), Number(dataset["from"])),
      Math.min(Math.round(start + to * length), Number(dataset["to"] || Infinity)),
    ];
  }

  /** The edges of the bars that the drag touches, as parts of the width. */
  #parts(): [number, number] {
    const { left, width } = this.#plot.getBoundingClientRect();
    const part = (x: number): number => Math.min(1, Math.max(0, (x - left) / width));
    const ends = [part(this.#from), part(this.#to)];
    const bars = Number(this.#plot.getAttribute("data-bars"));
    const first = Math.min(Math.floor(Math.min(...ends) * bars), bars - 1);
    return [first / bars, Math.max(first + 1, Math.ceil(Math.max(...ends) * bars)) / bars];
  }
}
