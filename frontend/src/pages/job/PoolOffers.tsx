/** What each pool offered to a job that may be in several, the one that was chosen marked. */

import type { PoolOffer } from "../../api/types";
import { formatCount, formatMetric } from "../../domain/format";
import styles from "./Choices.module.css";

const ANSWERS: Readonly<Record<PoolOffer["answer"], string>> = {
  starts: "starts it",
  owed: "gets GPUs back for it",
  waits: "has it wait",
  refused: "cannot run it",
  not_asked: "not asked",
};

export function PoolOffers({ offers }: { readonly offers: readonly PoolOffer[] }) {
  return (
    <table className={styles.choices}>
      <caption className="visually-hidden">Its pools, best first</caption>
      <thead>
        <tr>
          <th scope="col">Pool</th>
          <th scope="col">Workers</th>
          <th scope="col" title="1 is that of its smallest size in the slowest of these pools">
            Speed
          </th>
          <th scope="col" title="How much slower the jobs there would be together">
            Others lose
          </th>
          <th scope="col">Answer</th>
        </tr>
      </thead>
      <tbody>
        {offers.map((offer) => (
          <tr key={offer.pool} data-chosen={offer.is_chosen}>
            <th scope="row">
              {offer.pool}
              {offer.is_chosen && <span className="visually-hidden"> (chosen)</span>}
            </th>
            <td>{offer.workers === 0 ? "full" : formatCount(offer.workers)}</td>
            <td>
              {formatMetric(offer.speed)}×{!offer.is_measured && " (assumed)"}
            </td>
            <td>{formatMetric(offer.loss)}</td>
            <td>{ANSWERS[offer.answer]}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
