// Runs before the first paint, so that a chosen theme never flashes the other one.
document.documentElement.dataset.theme = localStorage.getItem("concertina.theme") ?? "system";
