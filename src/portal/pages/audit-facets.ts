import { html } from "../html.ts";

/** The place of the facets, which the browser fills after the list. */
export const FACETS_PLACE = html`<details
  class="facets card needs-modules"
  id="audit-facets"
  data-keep
>
  <summary>Facets</summary>
  <div></div>
</details>`;
