package org.klatch.payara;

import jakarta.annotation.Resource;
import jakarta.ejb.EJB;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.annotation.WebListener;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.klatch.adapters.SiteServlet;
import org.klatch.shop.Population;
import org.klatch.shop.TradeSite;
import org.klatch.shop.database.Schema;

/** Loads the population into an empty database, and serves the brokerage. */
@WebListener
public class Start implements ServletContextListener {
  @EJB private Transactions transactions;

  @Resource(lookup = "jdbc/trade")
  private DataSource database;

  @Override
  public void contextInitialized(ServletContextEvent event) {
    Population population =
        new Population(
            Long.parseUnsignedLong(System.getProperty("klatch.seed")),
            Integer.getInteger("klatch.users"),
            Integer.getInteger("klatch.quotes"));
    try (Connection connection = database.getConnection()) {
      if (Schema.loaded(connection) == null) {
        connection.setAutoCommit(false);
        Schema.load(connection, population);
        connection.setAutoCommit(true);
      }
    } catch (SQLException e) {
      throw new IllegalStateException("the population cannot be loaded", e);
    }
    TradeSite site = new TradeSite(new JpaBrokerage(transactions, population), population.quotes());
    event.getServletContext().addServlet("trade", new SiteServlet(site)).addMapping("/*");
  }
}
